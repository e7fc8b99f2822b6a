<?php
// Installs the blog in SITE with articles and readers: php fill.php SITE
define('WP_INSTALLING', true);
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('A blog', 'admin', 'admin@example.org', true, '', 'demo');
switch_theme('twentytwentyone');
update_option('comment_moderation', 0);
update_option('comment_previously_approved', 0);
update_option('posts_per_page', 40);
$paragraph = "<!-- wp:paragraph --><p>Words about storage and CPUs.</p><!-- /wp:paragraph -->\n";
for ($article = 0; $article < 100; $article++) {
    wp_insert_post([
        'post_title' => "Article $article",
        'post_content' => str_repeat($paragraph, 20),
        'post_status' => 'publish',
        'post_author' => 1,
    ]);
}
for ($reader = 1; $reader <= 70; $reader++) {
    wp_insert_user([
        'user_login' => "user$reader",
        'user_pass' => 'demo',
        'user_email' => "user$reader@example.org",
        'role' => 'author',
    ]);
}
