import { SimulatorError } from '../simulator-error.ts';

/** Whether a host name stands for this machine, whatever a name server may say. */
export function isLoopback(hostname: string): boolean {
  return (
    /^(?:[^.]+\.)*localhost$/i.test(hostname) ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname) ||
    hostname === '[::1]'
  );
}

/**
 * Checks where deliveries are to go.
 * @throws SimulatorError `invalid-input` for what is no http or https URL, `external-target` for
 *   another machine unless that is allowed
 */
export function checkTargetUrl(url: unknown, allowExternal: boolean): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password)
    throw new SimulatorError(
      'invalid-input',
      'The URL of a webhook action is an http or https URL without user and password.',
    );
  if (!allowExternal && !isLoopback(parsed.hostname))
    throw new SimulatorError(
      'external-target',
      `${parsed.host} is not this machine. Set allowExternal to send deliveries there.`,
    );
  return parsed.href;
}
