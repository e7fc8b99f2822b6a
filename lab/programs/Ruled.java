import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.concurrent.Executors;

/** A web server whose requests sign something, which is all that they do: they take so many rounds of SHA-256. */
public class Ruled {
    /** Port, threads, rounds. */
    public static void main(String[] words) throws Exception {
        int rounds = Integer.parseInt(words[2]);
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", exchange -> answer(exchange, rounds));
        http.start();
    }

    private static void answer(HttpExchange exchange, int rounds) throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] sum = new byte[32];
            for (int round = 0; round < rounds; round++) {
                sum = digest.digest(sum);
            }
            byte[] text = String.format("%02x%n", sum[0]).getBytes();
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
        } catch (java.security.NoSuchAlgorithmException missing) {
            throw new IOException(missing);
        }
        exchange.close();
    }
}
