import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A web server whose requests are run by an executor of 50 threads at most, which starts more than its first few only when
 * its queue is full, and its queue has no end. A request asks another service, over a connection of its thread's own.
 */
public class Queued {
    private static final int MOST = 50;
    private static final byte[] QUESTION = "GET / HTTP/1.1\r\nHost: service\r\n\r\n".getBytes();

    private final ThreadLocal<Socket> connection = new ThreadLocal<>();
    private final String[] service;

    Queued(String service) {
        this.service = service.split(":");
    }

    /** Port, address of the service, threads that the executor always may have. */
    public static void main(String[] words) throws Exception {
        Queued server = new Queued(words[1]);
        InetSocketAddress address =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        HttpServer http = HttpServer.create(address, 128);
        http.setExecutor(
                new ThreadPoolExecutor(
                        Integer.parseInt(words[2]),
                        MOST,
                        60,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>()));
        http.createContext("/", server::answer);
        http.start();
    }

    /** Asks the service; its answer ends with "ok" and the end of the line. */
    private void ask() throws IOException {
        Socket socket = connection.get();
        if (socket == null) {
            socket = new Socket(service[0], Integer.parseInt(service[1]));
            socket.setTcpNoDelay(true);
            connection.set(socket);
        }
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

    private void answer(HttpExchange exchange) throws IOException {
        ask();
        byte[] text = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }
}
