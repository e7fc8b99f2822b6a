import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.Executors;

/**
 * A web server that needs a buffer outside of the heap for each request, as programs do that hand their answers to the
 * kernel. It asks for a `new` one each time, or keeps one for each thread (`kept`). What is outside of the heap is freed
 * only when the small object that stands for it has been collected: at the limit the machine collects all of the heap,
 * in which much stays.
 */
public class Buffered {
    private static final int PIECE = 64;

    private final int bytes;
    private final boolean renewed;
    private final ThreadLocal<ByteBuffer> kept;
    /** What a collection has to walk over. */
    private final byte[][] stays;

    Buffered(int kib, int pieces, boolean renewed) {
        this.bytes = kib << 10;
        this.renewed = renewed;
        this.kept = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(bytes));
        this.stays = new byte[pieces][];
        for (int piece = 0; piece < pieces; piece++) {
            stays[piece] = new byte[PIECE];
        }
    }

    /** Port, threads, KiB of a buffer, objects that stay, and `new` or `kept`. */
    public static void main(String[] words) throws IOException {
        Buffered server =
                new Buffered(Integer.parseInt(words[2]), Integer.parseInt(words[3]), words[4].equals("new"));
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", server::answer);
        http.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        ByteBuffer buffer = renewed ? ByteBuffer.allocateDirect(bytes) : kept.get();
        buffer.clear();
        buffer.put("ok\n".getBytes()).flip();
        byte[] text = new byte[buffer.remaining()];
        buffer.get(text);
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }

    /** Nobody reads what stays; it must stay nevertheless. */
    int kept() {
        return stays.length;
    }
}
