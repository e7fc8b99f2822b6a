<?php
// A plugin: each visitor's session, in Redis, remembers the pages that were looked at last.
add_action('init', function () {
    if (PHP_SAPI === 'cli') {
        return;
    }
    session_start();
    $seen = $_SESSION['seen'] ?? [];
    $seen[] = $_SERVER['REQUEST_URI'];
    $_SESSION['seen'] = array_slice($seen, -20);
    session_write_close();
});
// What its pages look like, WordPress works out anew each minute and keeps in the database: readers who come in the same
// moment after that would all write the same row, and wait for each other's locks there. Here once is enough.
foreach (['global_styles_twentytwentyone', 'global_styles_svg_filters_twentytwentyone'] as $name) {
    add_filter("expiration_of_transient_$name", fn () => DAY_IN_SECONDS);
}
// Seventy readers of one address who write often are no flood here, and nobody reads their mail.
add_filter('comment_flood_filter', '__return_false', 99);
add_filter('wp_is_comment_flood', '__return_false', 99);
add_filter('duplicate_comment_id', '__return_false');
add_filter('pre_wp_mail', '__return_true');
