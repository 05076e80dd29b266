<?php
// A receiver in PHP: CALL_WEBHOOK_SECRET=… DATABASE=calls.db PHP_CLI_SERVER_WORKERS=8 php -S 127.0.0.1:3000 receiver.php
// Events are kept in SQLite, so any number of processes can share them.
declare(strict_types=1);
require __DIR__ . '/effects.php';

const TOLERANCE = 300; // seconds
const REMEMBER_IDS = 600; // seconds: as long as a signature can verify
const ANSWER_WITHIN = 25; // seconds: the service waits for 30
const LEASE = 240; // seconds: after a crash, a retry may run the event
const EVENTS = ['call:started', 'call:completed', 'call:recording-available'];

final class TookTooLong extends Exception {}

function receive(PDO $db, string $body): int
{
    $id = $_SERVER['HTTP_X_SERVICE_WEBHOOK_ID'] ?? '';
    if (!is_authentic($id, $body)) return 401;
    if (isset($_SERVER['HTTP_CONTENT_ENCODING'])) return 415;
    $now = time();
    execute($db, 'DELETE FROM webhook_ids WHERE until < ?', $now);
    if (!execute($db, 'INSERT OR IGNORE INTO webhook_ids VALUES (?, ?)', $id, $now + REMEMBER_IDS)) return 409;
    $event = json_decode($body, true);
    if (json_last_error() !== JSON_ERROR_NONE) return 422;
    $key = key_of($event);
    return $key === null ? 200 : run($db, $key, $event);
}

function is_authentic(string $id, string $body): bool
{
    $timestamp = $_SERVER['HTTP_X_SERVICE_TIMESTAMP'] ?? '';
    $signature = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '';
    if ($id === '' || !preg_match('/^[0-9]{1,12}\z/', $timestamp) || !str_starts_with($signature, 'v1,')) return false;
    if (abs(time() - (int) $timestamp) > TOLERANCE) return false;
    foreach (preg_split('/\s+/', trim(getenv('CALL_WEBHOOK_SECRET'))) as $secret) {
        $key = base64_decode(substr($secret, strlen('whsec_')));
        $computed = base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        if (hash_equals($computed, substr($signature, 3))) return true;
    }
    return false;
}

function run(PDO $db, string $key, array $event): int
{
    $now = time();
    $claim = 'INSERT INTO events VALUES (?, 0, ?) ON CONFLICT (key) DO UPDATE SET lease = excluded.lease'
        . ' WHERE done = 0 AND lease < ?';
    if (!execute($db, $claim, $key, $now + LEASE, $now)) {
        $select = $db->prepare('SELECT done FROM events WHERE key = ?');
        $select->execute([$key]);
        return $select->fetchColumn() ? 200 : 503;
    }
    // PHP has no threads: a handler that takes too long is interrupted, and runs again in the retry.
    pcntl_async_signals(true);
    pcntl_signal(SIGALRM, fn() => throw new TookTooLong());
    pcntl_alarm(ANSWER_WITHIN);
    try {
        handle($db, $event);
        pcntl_alarm(0);
        execute($db, 'UPDATE events SET done = 1 WHERE key = ?', $key);
        return 200;
    } catch (Throwable $error) {
        pcntl_alarm(0);
        execute($db, 'DELETE FROM events WHERE key = ?', $key);
        return $error instanceof TookTooLong ? 503 : 500;
    }
}

/** What identifies duplicates; null for what nobody handles. The webhook id is new in each attempt. */
function key_of(mixed $event): ?string
{
    if (!is_array($event) || !in_array($event['eventName'] ?? null, EVENTS, true)) return null;
    ['eventName' => $name, 'callId' => $call, 'eventId' => $id] = $event + ['callId' => null, 'eventId' => null];
    if ($name === 'call:recording-available' && is_string($id)) return $id;
    return is_string($call) ? "$call:$name" : null;
}

function execute(PDO $db, string $statement, mixed ...$values): int
{
    $prepared = $db->prepare($statement);
    $prepared->execute($values);
    return $prepared->rowCount();
}

$db = new PDO('sqlite:' . getenv('DATABASE'), options: [PDO::ATTR_TIMEOUT => 10]);
$db->exec('PRAGMA journal_mode = WAL');
$db->exec('CREATE TABLE IF NOT EXISTS webhook_ids (id TEXT PRIMARY KEY, until INT)');
$db->exec('CREATE TABLE IF NOT EXISTS events (key TEXT PRIMARY KEY, done INT, lease INT)');
$path = rtrim(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) ?: '', '/');
if ($path === '/effects') {
    header('Content-Type: application/json');
    echo json_encode(report($db));
} else {
    $isPost = $_SERVER['REQUEST_METHOD'] === 'POST';
    // Never 404: it would pause the rule.
    http_response_code($path !== '/hook' ? 503 : ($isPost ? receive($db, file_get_contents('php://input')) : 405));
}
