// The same in Java.
public class Wait {
    static final Object NEVER = new Object();

    static void rest(int ms) throws InterruptedException {
        synchronized (NEVER) {
            NEVER.wait(ms);
        }
    }

    static double heavyJava(long begun) throws InterruptedException {
        rest(6);
        return (System.nanoTime() - begun) / 1e9;
    }

    static double middleJava(long begun) throws InterruptedException {
        rest(3);
        return (System.nanoTime() - begun) / 1e9;
    }

    static double lightJava(long begun) throws InterruptedException {
        rest(1);
        return (System.nanoTime() - begun) / 1e9;
    }

    public static void main(String[] arguments) throws InterruptedException {
        long until = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
        double[] spent = new double[3];
        while (System.nanoTime() < until) {
            spent[0] += heavyJava(System.nanoTime());
            spent[1] += middleJava(System.nanoTime());
            spent[2] += lightJava(System.nanoTime());
        }
        System.out.println("java " + spent[0] + " " + spent[1] + " " + spent[2]);
    }
}
