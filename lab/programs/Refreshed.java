import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A web server whose requests look into a table under a lock, and then ask another service, each thread over a
 * connection of its own. A thread beside them makes the table anew, again and again, and has the lock meanwhile.
 */
public class Refreshed {
    private static final byte[] QUESTION = "GET / HTTP/1.1\r\nHost: service\r\n\r\n".getBytes();

    private final ReentrantLock lock = new ReentrantLock();
    private final String host;
    private final int port;
    private final ThreadLocal<Socket> services = ThreadLocal.withInitial(this::connect);
    /** What the table is for: which one it is. */
    private long version;

    Refreshed(String[] service) {
        this.host = service[0];
        this.port = Integer.parseInt(service[1]);
    }

    /** Port, threads, address of the service, ms of a refresh (0: there is none), ms between two. */
    public static void main(String[] words) throws Exception {
        Refreshed server = new Refreshed(words[2].split(":"));
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", server::answer);
        long refreshMs = Long.parseLong(words[3]);
        long pauseMs = Long.parseLong(words[4]);
        if (refreshMs > 0) {
            Thread thread = new Thread(() -> server.refresh(refreshMs, pauseMs), "refresh");
            thread.setDaemon(true);
            thread.start();
        }
        http.start();
    }

    private void refresh(long refreshMs, long pauseMs) {
        try {
            while (true) {
                lock.lock();
                try {
                    TimeUnit.MILLISECONDS.sleep(refreshMs);
                    version++;
                } finally {
                    lock.unlock();
                }
                TimeUnit.MILLISECONDS.sleep(pauseMs);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Socket connect() {
        try {
            Socket socket = new Socket(host, port);
            socket.setTcpNoDelay(true);
            return socket;
        } catch (IOException error) {
            throw new IllegalStateException("cannot reach the service", error);
        }
    }

    /** Asks the service; its answer ends with "ok" and the end of the line. */
    private void ask() throws IOException {
        Socket socket = services.get();
        socket.getOutputStream().write(QUESTION);
        InputStream answer = socket.getInputStream();
        for (int before = 0, read = answer.read();
                before != 'k' || read != '\n';
                before = read, read = answer.read()) {
            if (read < 0) {
                throw new IOException("the service has closed");
            }
        }
    }

    private long look() {
        lock.lock();
        try {
            return version;
        } finally {
            lock.unlock();
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        byte[] text = (look() + "\n").getBytes();
        ask();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
