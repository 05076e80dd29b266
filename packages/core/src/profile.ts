/**
 * Which conventions the sender follows. By default those of the service; `'standard-webhooks'` is
 * for senders that follow https://www.standardwebhooks.com: other header names, several signatures
 * in one header, and a webhook id that stays the same when a delivery is retried.
 *
 * With it, the webhook id and the timestamp together identify an attempt. The same attempt again is a
 * replay (409). A retry has a new timestamp and is processed. A retry that is signed within the same
 * second gets 409 as well, and the sender retries it later.
 */
export type Profile = 'standard-webhooks';
