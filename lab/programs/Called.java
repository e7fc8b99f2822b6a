import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Executors;

/**
 * A web server whose requests ask another service whether a token is still good. They do so under the one monitor of
 * the cache of tokens, or beside it. Each thread has a connection of its own.
 */
public class Called {
    private static final byte[] QUESTION = "GET / HTTP/1.1\r\nHost: service\r\n\r\n".getBytes();

    private final String[] service;
    private final boolean locked;
    private final ThreadLocal<Socket> connection = ThreadLocal.withInitial(this::connect);

    Called(String service, boolean locked) {
        this.service = service.split(":");
        this.locked = locked;
    }

    /** Port, threads, address of the service, and whether it is asked `locked` or `beside`. */
    public static void main(String[] words) throws Exception {
        Called server = new Called(words[2], words[3].equals("locked"));
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        http.createContext("/", server::answer);
        http.start();
    }

    private Socket connect() {
        try {
            Socket socket = new Socket(service[0], Integer.parseInt(service[1]));
            socket.setTcpNoDelay(true);
            return socket;
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Asks the service; its answer ends with "ok" and the end of the line. */
    private void ask() throws IOException {
        Socket socket = connection.get();
        socket.getOutputStream().write(QUESTION);
        InputStream answer = socket.getInputStream();
        for (int before = 0, read = answer.read();
                before != 'k' || read != '\n';
                before = read, read = answer.read()) {
            if (read < 0) {
                throw new IOException("the service has closed");
            }
        }
    }

    private synchronized void askAlone() throws IOException {
        ask();
    }

    private void answer(HttpExchange exchange) throws IOException {
        if (locked) {
            askAlone();
        } else {
            ask();
        }
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
