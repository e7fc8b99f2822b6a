import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A web server with a pool of threads. A request may sleep while it holds the server's one lock, or
 * beside it, and may make garbage around objects that stay.
 */
public class Server {
    private static final Object LOCK = new Object();
    private static final int PIECE = 1 << 10;

    private final long lockedUs;
    private final long sleepUs;
    private final int garbage;
    /** Objects that each collection has to walk over. */
    private final byte[][] kept;

    Server(long lockedUs, long sleepUs, int garbageKib, int keptKib) {
        this.lockedUs = lockedUs;
        this.sleepUs = sleepUs;
        this.garbage = garbageKib;
        this.kept = new byte[keptKib + 1][];
        for (int piece = 0; piece < keptKib; piece++) {
            kept[piece] = new byte[PIECE];
        }
    }

    public static void main(String[] words) throws Exception {
        int[] numbers = java.util.Arrays.stream(words).mapToInt(Integer::parseInt).toArray();
        Server server = new Server(numbers[2], numbers[3], numbers[4], numbers[5]);
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), numbers[0]);
        HttpServer http = HttpServer.create(address, 128);
        int threads = numbers[1];
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(
                        threads, threads, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        pool.prestartAllCoreThreads();
        http.setExecutor(pool);
        http.createContext("/", server::answer);
        http.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try {
            synchronized (LOCK) {
                TimeUnit.MICROSECONDS.sleep(lockedUs);
            }
            TimeUnit.MICROSECONDS.sleep(sleepUs);
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
