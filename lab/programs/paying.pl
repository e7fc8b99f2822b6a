# A shop of several processes, each of which accepts a connection and answers it until it is closed. A request asks a bank, and is
# then noted in the journal of its process in three steps, each of which the disk has before the next ("sync") or later ("later").
#
# paying.pl PORT BANK FOLDER sync|later

use strict;
use warnings;
use IO::Handle;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

use constant PROCESSES => 4;
use constant NOTES => 3;
use constant QUESTION => "GET / HTTP/1.1\r\nHost: bank\r\n\r\n";
use constant REPLY => "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
use constant NOTE => 'x' x 512;

my ($port, $bank, $folder, $word) = @ARGV;

sub ask {
    my ($asked) = @_;
    syswrite $asked, QUESTION;
    my $answer = '';
    while ($answer !~ /ok\n\z/) {
        # Without the bank there is nothing to do.
        sysread $asked, $answer, 4096, length $answer or exit;
    }
}

sub answer {
    my ($connection, $asked, $journal) = @_;
    setsockopt $connection, IPPROTO_TCP, TCP_NODELAY, 1;
    # A head ends with an empty line, and there is no body.
    local $/ = "\r\n\r\n";
    while (defined(my $head = <$connection>)) {
        ask($asked);
        for (1 .. NOTES) {
            syswrite $journal, NOTE or die "cannot write: $!";
            if ($word eq 'sync') { $journal->sync or die "cannot sync: $!" }
        }
        syswrite $connection, REPLY or last;
    }
    close $connection;
}

sub work {
    my ($listener) = @_;
    my $asked = IO::Socket::INET->new(PeerAddr => $bank) or die "cannot reach the bank: $!";
    setsockopt $asked, IPPROTO_TCP, TCP_NODELAY, 1;
    open my $journal, '>>', "$folder/journal-$$" or die "cannot open a journal: $!";
    while (my $connection = $listener->accept) { answer($connection, $asked, $journal) }
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
        work($listener);
        exit;
    }
    push @children, $child;
}
# Nobody else would end them.
$SIG{TERM} = sub { kill 'TERM', @children; exit };
sleep while 1;
