import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A web server whose requests count what they do, step by step, under one lock, each time for next to no time. A fair
 * lock goes to who has waited longest, who must be woken up first; another one to who is just there.
 */
public class Fair {
    private final ReentrantLock lock;
    private final int steps;
    private long count;

    Fair(int steps, boolean fair) {
        this.steps = steps;
        this.lock = new ReentrantLock(fair);
    }

    /** Port, threads, steps of a request, and whether the lock is `fair` or `unfair`. */
    public static void main(String[] words) throws IOException {
        Fair server = new Fair(Integer.parseInt(words[2]), words[3].equals("fair"));
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", server::answer);
        http.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        for (int step = 0; step < steps; step++) {
            lock.lock();
            try {
                count++;
            } finally {
                lock.unlock();
            }
        }
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
