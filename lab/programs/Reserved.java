import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * A web server that answers at once, and has mapped an index into its memory, as those that search texts do: so many times
 * 2 GB, of which nothing is looked at.
 */
public class Reserved {
    private static final long PIECE = Integer.MAX_VALUE;
    /** Mapped for as long as they are here. */
    private static final List<MappedByteBuffer> INDEX = new ArrayList<>();

    /** Port, file of the index, how often it is mapped. */
    public static void main(String[] words) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(words[1], "r")) {
            for (int piece = 0; piece < Integer.parseInt(words[2]); piece++) {
                INDEX.add(file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, PIECE));
            }
        }
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(4));
        http.createContext("/", Reserved::answer);
        http.start();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
