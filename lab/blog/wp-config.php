<?php
// The blog's settings; the words in @ are filled in by the demo.
define('DB_NAME', 'blog');
define('DB_USER', 'blog');
define('DB_PASSWORD', 'blog');
define('DB_HOST', '127.0.0.1:@database@');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
// It lives for minutes, on loopback.
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) {
    define("{$name}_KEY", "$name of a demo");
    define("{$name}_SALT", "$name in a demo");
}
define('WP_HOME', 'http://127.0.0.1:@port@');
define('WP_SITEURL', WP_HOME);
// Nothing but what readers ask for.
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
