import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;

/**
 * A server with a thread per connection and a heap full of objects that stay. At the times of a schedule a thread asks
 * for a collection, in which everything stands still.
 */
public class Collected {
    private static final int BYTES = 8;
    private static final int LOOK_MS = 50;

    /** An object that each collection has to walk over. */
    private record Kept(Kept next, long value) {}

    private static Kept kept;

    /** Port, objects that stay, schedule, and where collections are noted. */
    public static void main(String[] words) throws Exception {
        for (long value = Long.parseLong(words[1]); value > 0; value--) {
            kept = new Kept(kept, value);
        }
        ServerSocket listener = new ServerSocket();
        listener.bind(
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0])));
        start("collector", () -> collect(Path.of(words[2]), Path.of(words[3])));
        while (true) {
            Socket socket = listener.accept();
            socket.setTcpNoDelay(true);
            start("worker", () -> answer(socket));
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void start(String name, Work work) {
        Runnable carefully =
                () -> {
                    try {
                        work.run();
                    } catch (Exception error) {
                        System.err.println(name + ": " + error);
                    }
                };
        Thread thread = new Thread(carefully, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void answer(Socket socket) throws Exception {
        try (socket) {
            InputStream input = socket.getInputStream();
            OutputStream output = socket.getOutputStream();
            byte[] bytes = new byte[BYTES];
            while (input.readNBytes(bytes, 0, BYTES) == BYTES) {
                output.write(bytes);
            }
        }
    }

    private static void collect(Path schedule, Path noted) throws Exception {
        while (!Files.exists(schedule)) {
            Thread.sleep(LOOK_MS);
        }
        for (String line : Files.readAllLines(schedule)) {
            String[] words = line.split(" ");
            long left = Long.parseLong(words[0]) - System.currentTimeMillis();
            if (left > 0) {
                Thread.sleep(left);
            }
            Instant now = Instant.now();
            long nowNs = now.getEpochSecond() * 1_000_000_000L + now.getNano();
            Files.writeString(
                    noted,
                    nowNs + " " + words[1] + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
            System.gc();
        }
    }
}
