import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;

/**
 * A web server whose requests ask another service over a pool of connections, which a thread takes one
 * out of and gives back, as pools of database connections do. A request may make garbage around objects
 * that stay.
 */
public class Pooled {
    private static final int PIECE = 1 << 10;
    private static final byte[] QUESTION = "GET / HTTP/1.1\r\nHost: service\r\n\r\n".getBytes();

    private final BlockingQueue<Socket> pool;
    private final int garbage;
    /** Objects that each collection has to walk over. */
    private final byte[][] kept;

    Pooled(int garbageKib, int keptKib, int connections) {
        this.garbage = garbageKib;
        this.kept = new byte[keptKib + 1][];
        for (int piece = 0; piece < keptKib; piece++) {
            kept[piece] = new byte[PIECE];
        }
        this.pool = new ArrayBlockingQueue<>(connections);
    }

    /** Port, threads, connections, address of the service, KiB of garbage of a request, KiB that stay. */
    public static void main(String[] words) throws Exception {
        int connections = Integer.parseInt(words[2]);
        Pooled server =
                new Pooled(Integer.parseInt(words[4]), Integer.parseInt(words[5]), connections);
        String[] service = words[3].split(":");
        for (int number = 0; number < connections; number++) {
            Socket socket = new Socket(service[0], Integer.parseInt(service[1]));
            socket.setTcpNoDelay(true);
            server.pool.put(socket);
        }
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", server::answer);
        http.start();
    }

    /** Asks the service; its answer ends with "ok" and the end of the line. */
    private void ask() throws IOException, InterruptedException {
        Socket socket = pool.take();
        try {
            socket.getOutputStream().write(QUESTION);
            InputStream answer = socket.getInputStream();
            for (int before = 0, read = answer.read();
                    before != 'k' || read != '\n';
                    before = read, read = answer.read()) {
                if (read < 0) {
                    throw new IOException("the service has closed");
                }
            }
        } finally {
            pool.put(socket);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        try {
            ask();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        for (int piece = 0; piece < garbage; piece++) {
            // Now and then one stays in the place of another, so that old and new point at each other.
            kept[piece % 64 == 0 ? piece % kept.length : kept.length - 1] = new byte[PIECE];
        }
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
