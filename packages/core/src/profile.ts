/**
 * Which conventions the sender follows. By default those of the service; `'standard-webhooks'` is
 * for senders that follow https://www.standardwebhooks.com: other header names, several signatures
 * in one header, and a webhook id that stays the same when a delivery is retried.
 */
export type Profile = 'standard-webhooks';
