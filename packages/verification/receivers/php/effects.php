<?php
// A handler for `call-webhooks check --effects`: it does what the call id asks for, and counts.
declare(strict_types=1);

function handle(PDO $db, array $event): void
{
    $key = "{$event['callId']}:{$event['eventName']}";
    counters($db);
    execute($db, "INSERT INTO counters VALUES (?, 1, 0) ON CONFLICT DO UPDATE SET attempts = attempts + 1", $key);
    $attempts = $db->prepare('SELECT attempts FROM counters WHERE key = ?');
    $attempts->execute([$key]);
    $attempt = $attempts->fetchColumn();
    usleep(asked('slow', $key) * 1000);
    if ($attempt <= asked('fail', $key)) throw new RuntimeException('as asked');
    execute($db, 'UPDATE counters SET count = count + 1 WHERE key = ?', $key);
}

function report(PDO $db): array
{
    counters($db);
    return $db->query('SELECT key, count FROM counters WHERE count > 0')->fetchAll(PDO::FETCH_ASSOC);
}

function counters(PDO $db): void
{
    $db->exec('CREATE TABLE IF NOT EXISTS counters (key TEXT PRIMARY KEY, attempts INT, count INT)');
}

function asked(string $what, string $key): int
{
    return preg_match("/\.$what-(\d+)/", $key, $match) ? (int) $match[1] : 0;
}
