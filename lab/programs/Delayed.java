import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** The web server of the JDK as its documentation shows it: a small answer, head and text of which are written apart. */
public class Delayed {
    private static final int THREADS = 8;

    /** Port. */
    public static void main(String[] words) throws IOException {
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(THREADS));
        http.createContext("/", Delayed::answer);
        http.start();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
