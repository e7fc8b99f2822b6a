import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A web server with a pool of threads, each of whose requests computes for a while. In the background
 * it may write a journal and sync it, again and again; no request waits for that.
 */
public class Service {
    private static final int BLOCK = 16 << 10;
    private static final int BLOCKS = 256;
    /** Between two syncs. */
    private static final long PAUSE_MS = 3;

    private final long computeNs;
    private volatile long result;

    Service(long computeUs) {
        this.computeNs = computeUs * 1000;
    }

    /** Port, threads, us of a request, and the journal where there is one. */
    public static void main(String[] words) throws Exception {
        Service service = new Service(Long.parseLong(words[2]));
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", service::answer);
        if (words.length > 3) {
            Path journal = Path.of(words[3]);
            Thread thread = new Thread(() -> flush(journal), "journal");
            thread.setDaemon(true);
            thread.start();
        }
        http.start();
    }

    private static void flush(Path journal) {
        try (FileChannel channel =
                FileChannel.open(
                        journal, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (long block = 0; ; block = (block + 1) % BLOCKS) {
                channel.write(ByteBuffer.allocate(BLOCK), block * BLOCK);
                channel.force(true);
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
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
