# A web application of so many processes, each of which takes one request at a time, asks a service for it, answers, and
# closes the connection; what comes while all are busy waits until one is free.
#
# workers.pl PORT SERVICE PROCESSES

use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

use constant REPLY => "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
use constant QUESTION => "GET / HTTP/1.1\r\nHost: service\r\n\r\n";

my ($port, $service, $processes) = @ARGV;

sub work {
    my ($listener) = @_;
    my $asked = IO::Socket::INET->new(PeerAddr => $service) or die "cannot reach the service: $!";
    setsockopt $asked, IPPROTO_TCP, TCP_NODELAY, 1;
    while (my $client = $listener->accept) {
        # A head ends with an empty line, and there is no body.
        my $head = do { local $/ = "\r\n\r\n"; <$client> };
        if (defined $head) {
            syswrite $asked, QUESTION;
            my $answer = '';
            while ($answer !~ /ok\n\z/) {
                # Without the service there is nothing to do.
                sysread $asked, $answer, 4096, length $answer or exit;
            }
            syswrite $client, REPLY;
        }
        close $client;
    }
}

my $listener = IO::Socket::INET->new(
    LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 128, ReuseAddr => 1,
) or die "cannot listen: $!";

my @children;
for (1 .. $processes) {
    my $child = fork;
    die "cannot start a process: $!" unless defined $child;
    if ($child == 0) {
        $SIG{PIPE} = 'IGNORE';
        work($listener);
        exit;
    }
    push @children, $child;
}
# Nobody else would end them.
$SIG{TERM} = sub { kill 'TERM', @children; exit };
sleep while 1;
