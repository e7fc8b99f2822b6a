// The same in Java: -XX:+PreserveFramePointer, and names at the end by -XX:+DumpPerfMapAtExit.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Heavy {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static volatile long sink = 1;

    static double cpu() {
        return THREADS.getCurrentThreadCpuTime() / 1e9;
    }

    static void rounds(int count) {
        long sum = sink;
        for (int i = 0; i < count; i++) sum = sum * 6364136223846793005L + i;
        sink = sum;
    }

    static double heavyJava(double begun) {
        for (int i = 0; i < 6; i++) rounds(300000);
        return cpu() - begun;
    }

    static double middleJava(double begun) {
        for (int i = 0; i < 3; i++) rounds(300000);
        return cpu() - begun;
    }

    static double lightJava(double begun) {
        rounds(300000);
        return cpu() - begun;
    }

    public static void main(String[] words) {
        double seconds = Double.parseDouble(words[0]);
        double[] spent = new double[3];
        while (cpu() < seconds) {
            spent[0] += heavyJava(cpu());
            spent[1] += middleJava(cpu());
            spent[2] += lightJava(cpu());
        }
        System.out.println("java " + spent[0] + " " + spent[1] + " " + spent[2]);
    }
}
