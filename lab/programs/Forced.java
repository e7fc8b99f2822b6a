import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A web server with a pool of threads, each of which has a journal that it has mapped into memory. A request
 * writes to it, and may wait until the disk has that before it answers. A thread beside them may ask for
 * collections of a heap full of objects that stay, as some libraries do to free what lies outside of it.
 */
public class Forced {
    private static final int PIECE = 64;
    private static final int RECORD = 512;
    private static final int JOURNAL = 1 << 16;

    private final Path folder;
    private final boolean forces;
    private final ThreadLocal<MappedByteBuffer> journals = ThreadLocal.withInitial(this::journal);
    /** Objects that each collection has to walk over. */
    private final byte[][] kept;

    Forced(Path folder, boolean forces, int count) {
        this.folder = folder;
        this.forces = forces;
        this.kept = new byte[count][];
        for (int piece = 0; piece < count; piece++) {
            kept[piece] = new byte[PIECE];
        }
    }

    /** Port, threads, folder of the journals, forced or left, ms between collections (0: none), objects that stay. */
    public static void main(String[] words) throws Exception {
        boolean forces = words[3].equals("forced");
        Forced server = new Forced(Path.of(words[2]), forces, Integer.parseInt(words[5]));
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", server::answer);
        long pauseMs = Long.parseLong(words[4]);
        if (pauseMs > 0) {
            Thread thread = new Thread(() -> collect(pauseMs), "cleaner");
            thread.setDaemon(true);
            thread.start();
        }
        http.start();
    }

    private static void collect(long pauseMs) {
        try {
            while (true) {
                System.gc();
                TimeUnit.MILLISECONDS.sleep(pauseMs);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private MappedByteBuffer journal() {
        try {
            Path file = Files.createTempFile(folder, "journal", null);
            try (FileChannel channel =
                    FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return channel.map(FileChannel.MapMode.READ_WRITE, 0, JOURNAL);
            }
        } catch (IOException error) {
            throw new IllegalStateException("cannot make a journal", error);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        MappedByteBuffer journal = journals.get();
        if (journal.remaining() < RECORD) {
            journal.rewind();
        }
        journal.put(new byte[RECORD]);
        if (forces) {
            journal.force();
        }
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
