import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.Executors;

/**
 * A web server each request of which writes some lines to a log, as programs do whose level of logging was left at
 * what developers want. As loggers of the older kind do, an appender formats a line, with the place in the program that
 * it is from, and writes it out while it has its own lock; all threads have one appender (`shared`), or each has its
 * own (`own`).
 */
public class Logged {
    private static final class Appender {
        private final OutputStream file;

        Appender(File name) {
            try {
                this.file = new FileOutputStream(name);
            } catch (IOException missing) {
                throw new IllegalStateException(missing);
            }
        }

        synchronized void append(String text) throws IOException {
            StackTraceElement place = new Throwable().getStackTrace()[1];
            String line = Instant.now() + " DEBUG [" + Thread.currentThread().getName() + "] " + place + ": " + text;
            file.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    private final int lines;
    private final ThreadLocal<Appender> appenders;

    Logged(int lines, File folder, boolean shared) {
        Appender one = new Appender(new File(folder, "log"));
        this.lines = lines;
        this.appenders =
                ThreadLocal.withInitial(
                        () -> shared ? one : new Appender(new File(folder, Thread.currentThread().getName())));
    }

    /** Port, threads, lines of a request, folder of the log, and `shared` or `own`. */
    public static void main(String[] words) throws IOException {
        Logged server = new Logged(Integer.parseInt(words[2]), new File(words[3]), words[4].equals("shared"));
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", server::answer);
        http.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        Appender log = appenders.get();
        for (int line = 0; line < lines; line++) {
            log.append("row " + line + " of " + lines);
        }
        byte[] text = "ok\n".getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
