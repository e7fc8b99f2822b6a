import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A web server with many small objects on its heap. A thread in it may ask the virtual machine for all
 * threads and all locks that they hold, again and again, as monitoring does: to find the owners of locks,
 * the machine stops every thread and walks over the whole heap.
 */
public class Monitored {
    private static final long PAUSE_MS = 10;
    /** Objects that stay, for others to be walked over. */
    private static Object[] kept;

    /** Port, threads, objects that stay, and whether it is watched (1) or not (0). */
    public static void main(String[] words) throws Exception {
        kept = new Object[Integer.parseInt(words[2])];
        for (int number = 0; number < kept.length; number++) {
            kept[number] = new int[1];
        }
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", Monitored::answer);
        if (words[3].equals("1")) {
            Thread thread = new Thread(Monitored::watch, "monitoring");
            thread.setDaemon(true);
            thread.start();
        }
        http.start();
    }

    private static void watch() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        try {
            while (true) {
                threads.dumpAllThreads(true, true);
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void answer(HttpExchange exchange) throws IOException {
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
