import type { Command } from 'commander';
import { badInput } from '../cli-error.ts';

/** Whether a host name stands for this machine, whatever a name server may say. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:[^.]+\.)*localhost$/i.test(hostname) ||
  /^127(?:\.\d{1,3}){3}$/.test(hostname) ||
  hostname === '[::1]';

/** Adds `--allow-external`. */
export const withExternalOption = (command: Command): Command =>
  command.option('--allow-external', 'let requests go to another machine than this one');

/**
 * A receiver's URL. `localhost:3000/hook` and `3000/hook` are understood.
 * @throws CliError 2 for what is no http or https URL, and for another machine unless it is allowed
 */
export function targetUrl(given: string, allowExternal = false): string {
  const whole = /^\d{1,5}(?:\/|$)/.test(given)
    ? `http://127.0.0.1:${given}`
    : /^[\w.-]+:\d{1,5}(?:\/|$)|^\[[\da-f:]+\]/i.test(given)
      ? `http://${given}`
      : given;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw badInput(`${given} is no http or https URL.`, 'Like this: http://127.0.0.1:3000/hook');
  if (url.username !== '' || url.password !== '')
    throw badInput('A URL with a user and a password in it is not used.');
  if (!allowExternal && !isLoopback(url.hostname))
    throw badInput(
      `${url.host} is not this machine.`,
      'Pass --allow-external to send there all the same.',
    );
  url.hash = '';
  return url.href;
}
