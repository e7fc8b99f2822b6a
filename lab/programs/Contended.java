import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A web server with a pool of threads, each of whose requests computes for a while. Threads of a batch may
 * wait for each other beside them, for a lock that no request needs.
 */
public class Contended {
    private static final Object LOCK = new Object();
    /** How long each of the batch keeps the lock. */
    private static final long HOLD_MS = 5;

    private final long computeNs;
    private volatile long result;

    Contended(long computeUs) {
        this.computeNs = computeUs * 1000;
    }

    /** Port, threads that answer, us of a request, and threads of the batch. */
    public static void main(String[] words) throws Exception {
        Contended server = new Contended(Long.parseLong(words[2]));
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", server::answer);
        for (int number = 0; number < Integer.parseInt(words[3]); number++) {
            Thread thread = new Thread(Contended::batch, "batch-" + number);
            thread.setDaemon(true);
            thread.start();
        }
        http.start();
    }

    private static void batch() {
        try {
            while (true) {
                synchronized (LOCK) {
                    TimeUnit.MILLISECONDS.sleep(HOLD_MS);
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        long value = System.nanoTime();
        for (long end = value + computeNs; System.nanoTime() < end; ) {
            for (int round = 0; round < 200; round++) {
                value = Long.rotateLeft(value * 6364136223846793005L, 9);
            }
        }
        result = value;
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
