import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/**
 * The JDK's web server, each request of which uses the CPU for a while. Without an executor, as it is made in
 * three lines, the thread that waits for all connections answers all requests; with one, a pool of threads does.
 */
public class Dispatched {
    private static final int THREADS = 8;
    private static final ThreadMXBean TIMES = ManagementFactory.getThreadMXBean();

    /** What was computed: else nobody would need to. */
    private static volatile long result;

    private final long computeNs;

    Dispatched(long computeUs) {
        this.computeNs = computeUs * 1000;
    }

    /** Port, dispatcher or pool, us of CPU of a request. */
    public static void main(String[] words) throws IOException {
        Dispatched server = new Dispatched(Long.parseLong(words[2]));
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        if (words[1].equals("pool")) {
            http.setExecutor(Executors.newFixedThreadPool(THREADS));
        }
        http.createContext("/", server::answer);
        http.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        long value = System.nanoTime();
        // The time that this thread has used: a clock on the wall goes on while it waits for a CPU.
        long end = TIMES.getCurrentThreadCpuTime() + computeNs;
        while (TIMES.getCurrentThreadCpuTime() < end) {
            for (int round = 0; round < 1000; round++) {
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
