# A web server of several processes, each of which accepts a connection and answers it until it is closed,
# as those of Perl are. A request uses the CPU for some us. It may keep the session that it belongs to for
# itself, by a lock on the session's file, and sleep meanwhile; all requests are of one session ("one"), or
# each process has its own ("own").
#
# prefork.pl PORT PROCESSES COMPUTE_US [FOLDER one|own SLEEP_US]

use strict;
use warnings;
use Fcntl qw(:flock);
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime usleep CLOCK_PROCESS_CPUTIME_ID);

use constant REPLY => "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";

my ($port, $processes, $compute_us, $folder, $sessions, $sleep_us) = @ARGV;

sub compute {
    my $end = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) + $compute_us / 1e6;
    1 while clock_gettime(CLOCK_PROCESS_CPUTIME_ID) < $end;
}

sub keep_session {
    my $name = $sessions eq 'one' ? 'session' : "session-$$";
    open my $file, '>>', "$folder/$name" or die "cannot open a session: $!";
    flock $file, LOCK_EX or die "cannot lock a session: $!";
    usleep $sleep_us;
    close $file;
}

sub answer {
    my ($connection) = @_;
    setsockopt $connection, IPPROTO_TCP, TCP_NODELAY, 1;
    # A head ends with an empty line, and there is no body.
    local $/ = "\r\n\r\n";
    while (defined(my $head = <$connection>)) {
        compute();
        keep_session() if defined $folder;
        print $connection REPLY or last;
    }
    close $connection;
}

my $listener = IO::Socket::INET->new(
    LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 64, ReuseAddr => 1,
) or die "cannot listen: $!";

my @children;
for (1 .. $processes) {
    my $child = fork;
    die "cannot start a process: $!" unless defined $child;
    if ($child == 0) {
        $SIG{PIPE} = 'IGNORE';
        while (my $connection = $listener->accept) { answer($connection) }
        exit;
    }
    push @children, $child;
}
# Nobody else would end them.
$SIG{TERM} = sub { kill 'TERM', @children; exit };
sleep while 1;
