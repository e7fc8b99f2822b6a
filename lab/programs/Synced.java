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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A service that changes something with each request, and answers when the changes are in its log of transactions. One
 * thread writes the log for all: what has come in the meantime is written and synced together, as ZooKeeper does. A request
 * may ask another service first, over a connection of its thread's own.
 */
public class Synced {
    private static final int THREADS = 16;
    private static final int ENTRY = 512;
    private static final byte[] QUESTION = "GET / HTTP/1.1\r\nHost: service\r\n\r\n".getBytes();

    private final LinkedBlockingQueue<CompletableFuture<Void>> waiting =
            new LinkedBlockingQueue<>();
    private final ThreadLocal<Socket> connection = new ThreadLocal<>();
    private final boolean syncs;
    private final int changes;
    private final String[] service;

    Synced(boolean syncs, int changes, String service) {
        this.syncs = syncs;
        this.changes = changes;
        this.service = service.split(":");
    }

    /** Port, folder of the log, sync or later, changes of a request, address of the other service or none. */
    public static void main(String[] words) throws Exception {
        Synced server =
                new Synced(words[2].equals("sync"), Integer.parseInt(words[3]), words[4]);
        FileChannel log =
                FileChannel.open(
                        Path.of(words[1], "log"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND);
        Thread thread = new Thread(() -> server.write(log), "SyncThread");
        thread.setDaemon(true);
        thread.start();
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(THREADS));
        http.createContext("/", server::answer);
        http.start();
    }

    private void write(FileChannel log) {
        try {
            List<CompletableFuture<Void>> together = new ArrayList<>();
            while (true) {
                together.add(waiting.take());
                waiting.drainTo(together);
                log.write(ByteBuffer.allocate(ENTRY * together.size()));
                if (syncs) {
                    log.force(true);
                }
                together.forEach(change -> change.complete(null));
                together.clear();
            }
        } catch (IOException error) {
            throw new IllegalStateException("cannot write the log", error);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Asks the other service; its answer ends with "ok" and the end of the line. */
    private void ask() throws IOException {
        Socket socket = connection.get();
        if (socket == null) {
            socket = new Socket(service[0], Integer.parseInt(service[1]));
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

    private void answer(HttpExchange exchange) throws IOException {
        if (service.length > 1) {
            ask();
        }
        for (int change = 0; change < changes; change++) {
            CompletableFuture<Void> written = new CompletableFuture<>();
            waiting.add(written);
            written.join();
        }
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
