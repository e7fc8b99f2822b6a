import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/**
 * A web server that keeps much in its heap, as a cache does, whose requests use the CPU for a while and make next to no
 * garbage.
 */
public class Kept {
    private static final int THREADS = 4;
    private static final int PIECE = 1 << 20;
    private static final ThreadMXBean TIMES = ManagementFactory.getThreadMXBean();

    /** What was computed: else nobody would need to. */
    private static volatile long result;

    private final long computeNs;
    private final byte[][] kept;

    Kept(long computeUs, int keptMib) {
        this.computeNs = computeUs * 1000;
        this.kept = new byte[keptMib][PIECE];
    }

    /** Port, us of CPU of a request, and MiB that are kept. */
    public static void main(String[] words) throws IOException {
        Kept server = new Kept(Long.parseLong(words[1]), Integer.parseInt(words[2]));
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(THREADS));
        http.createContext("/", server::answer);
        http.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        long value = kept.length;
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
