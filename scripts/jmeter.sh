#!/usr/bin/env bash
# jmeter.sh
#
# Gets Apache JMeter (the version in lab/blog/jmeter.xml) from Maven Central, once, into target/jmeter, laid out as its
# own archive is, and prints where its ApacheJMeter.jar is: java -jar "$(scripts/jmeter.sh)" -n -t PLAN.jmx
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

home=${CARGO_TARGET_DIR:-target}/jmeter
jar=$home/bin/ApacheJMeter.jar
if [ ! -e "$jar" ] || [ lab/blog/jmeter.xml -nt "$jar" ]; then
    scripts/need.sh "JMeter" openjdk-17-jdk-headless maven unzip >&2
    # Made beside and moved at the end: what was interrupted is made again.
    making=$home.making
    rm -rf "$making" "$home"
    mkdir -p "$making/bin" "$making/lib/ext" "$making/lib/junit"
    mvn -q -B -f lab/blog/jmeter.xml dependency:copy-dependencies -DoutputDirectory="$(realpath "$making")/lib" >&2
    for part in core components functions http; do
        mv "$making"/lib/ApacheJMeter_$part-*.jar "$making/lib/ext/"
    done
    unzip -q -o "$making"/lib/ApacheJMeter_config-*.jar 'bin/*' -d "$making"
    mv "$making"/lib/ApacheJMeter-[0-9]*.jar "$making/bin/ApacheJMeter.jar"
    touch "$making/bin/ApacheJMeter.jar"
    mv "$making" "$home"
fi
realpath "$jar"
