import type { Command } from 'commander';
import { badInput } from '../errors.ts';

/** Whether a host name is this machine, whatever a name server says. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:[^.]+\.)*localhost$/i.test(hostname) ||
  /^127(?:\.\d{1,3}){3}$/.test(hostname) ||
  hostname === '[::1]';

/** Adds `--allow-external`. */
export const withExternalOption = (command: Command): Command =>
  command.option('--allow-external', 'allow requests to other machines');

/** The flags of commands that post to a receiver. */
export interface ReceiverOptions {
  readonly allowExternal?: boolean;
  readonly insecure?: boolean;
}

/** Adds `--allow-external` and `--insecure`. */
export const withReceiverOptions = (command: Command): Command =>
  withExternalOption(command).option(
    '-k, --insecure',
    'accept any TLS certificate of the receiver',
  );

/**
 * Parses the URL of a receiver. Short forms such as `localhost:3000/hook` and `3000/hook` work too.
 * @throws CliError 2 for other protocols, and for another machine unless it is allowed
 */
export function targetUrl(given: string, allowExternal = false): string {
  const whole = /^\d{1,5}(?:\/|$)/.test(given)
    ? `http://127.0.0.1:${given}`
    : /^[\w.-]+:\d{1,5}(?:\/|$)|^\[[\da-f:]+\]/i.test(given)
      ? `http://${given}`
      : given;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw badInput(`Invalid URL: ${given}`, 'Example: http://127.0.0.1:3000/hook');
  if (url.username !== '' || url.password !== '')
    throw badInput('The URL must not contain a user name or password.', 'Remove it from the URL.');
  if (!allowExternal && !isLoopback(url.hostname))
    throw badInput(`${url.host} is not this machine.`, 'To send there, pass --allow-external.');
  url.hash = '';
  return url.href;
}
