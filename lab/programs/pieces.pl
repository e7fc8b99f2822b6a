# A service of several processes, each of which accepts a connection and answers it until it is closed. It sends the head of
# an answer and its body by a call each, and the kernel sends the second "at-once", as it does with TCP_NODELAY, or "later":
# when the client has acknowledged the first (RFC 896), which has nothing to say and delays that.
#
# pieces.pl PORT at-once|later

use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

use constant PROCESSES => 8;
use constant HEAD => "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";

my ($port, $word) = @ARGV;

sub answer {
    my ($connection) = @_;
    setsockopt $connection, IPPROTO_TCP, TCP_NODELAY, $word eq 'at-once' ? 1 : 0;
    # A head ends with an empty line, and there is no body.
    local $/ = "\r\n\r\n";
    while (defined(my $head = <$connection>)) {
        syswrite $connection, HEAD or last;
        syswrite $connection, "ok\n" or last;
    }
    close $connection;
}

my $listener = IO::Socket::INET->new(
    LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 64, ReuseAddr => 1,
) or die "cannot listen: $!";

my @children;
for (1 .. PROCESSES) {
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
