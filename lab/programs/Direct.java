import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.Executors;

/**
 * A web server each request of which puts its answer together in a buffer outside of the heap, new for each ("new") or
 * that of its thread ("kept"). A new one is given back only when a collection of the heap finds that nobody has it any
 * more: where the room for them is used up, the library asks for a collection. Beside that the heap has small objects that
 * stay.
 */
public class Direct {
    private static final int THREADS = 4;
    private static final int PAGE = 4096;

    /** An object that stays, and that each collection of the whole heap has to walk over. */
    private record Kept(Kept next, long value) {}

    private static Kept kept;

    private final int bytes;
    private final ThreadLocal<ByteBuffer> own;

    Direct(int kib, boolean anew) {
        this.bytes = kib << 10;
        this.own = anew ? null : ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(bytes));
    }

    /** Port, KiB of a buffer, objects that stay, and `new` or `kept`. */
    public static void main(String[] words) throws IOException {
        for (long value = Long.parseLong(words[2]); value > 0; value--) {
            kept = new Kept(kept, value);
        }
        Direct server = new Direct(Integer.parseInt(words[1]), words[3].equals("new"));
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(THREADS));
        http.createContext("/", server::answer);
        http.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        ByteBuffer buffer = own == null ? ByteBuffer.allocateDirect(bytes) : own.get();
        for (int at = 0; at < bytes; at += PAGE) {
            buffer.put(at, (byte) at);
        }
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
