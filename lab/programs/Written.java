import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;

/**
 * A web server each request of which asks another service, where there is one, and is then written to the transaction log of
 * its thread in so many steps, each of which the disk has before the next (`sync`) or later (`later`).
 */
public class Written {
    private static final int THREADS = 8;
    private static final int LINE = 512;
    private static final byte[] QUESTION = "GET / HTTP/1.1\r\nHost: service\r\n\r\n".getBytes();

    private final ThreadLocal<Socket> connection = new ThreadLocal<>();
    private final ThreadLocal<FileChannel> log = new ThreadLocal<>();
    private final String service;
    private final String folder;
    private final boolean synced;
    private final int steps;

    Written(String[] words) {
        this.service = words[1];
        this.folder = words[2];
        this.synced = words[3].equals("sync");
        this.steps = Integer.parseInt(words[4]);
    }

    /**
     * Port, address of the service or `none`, folder of the logs, `sync` or `later`, steps, and `all` where it is to listen on
     * all addresses.
     */
    public static void main(String[] words) throws Exception {
        int port = Integer.parseInt(words[0]);
        InetSocketAddress address =
                words.length > 5
                        ? new InetSocketAddress(port)
                        : new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(THREADS));
        http.createContext("/", new Written(words)::answer);
        http.start();
    }

    /** Asks the service; its answer ends with "ok" and the end of the line. */
    private void ask() throws IOException {
        Socket socket = connection.get();
        if (socket == null) {
            String[] parts = service.split(":");
            socket = new Socket(parts[0], Integer.parseInt(parts[1]));
            socket.setTcpNoDelay(true);
            connection.set(socket);
        }
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

    private void write() throws IOException {
        FileChannel file = log.get();
        if (file == null) {
            Path path = Path.of(folder, "log-" + Thread.currentThread().getId());
            file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            log.set(file);
        }
        for (int step = 0; step < steps; step++) {
            file.write(ByteBuffer.allocate(LINE));
            if (synced) {
                file.force(false);
            }
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        if (!service.equals("none")) {
            ask();
        }
        write();
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
