import { SimulatorError } from '../simulator-error.ts';
import type { EventName, Rule, RuleTrigger } from './rule.ts';

/** @throws SimulatorError `invalid-input` */
export function checkTrigger(trigger: unknown): RuleTrigger {
  if (trigger === 'call:started' || trigger === 'call:completed') return trigger;
  throw new SimulatorError(
    'invalid-input',
    'The trigger of a rule must be "call:started" or "call:completed". For recordings, set the recording webhook.',
  );
}

/** @throws SimulatorError `invalid-input` */
export function checkScope(scope: unknown): Rule['scope'] {
  if (scope === 'user' || scope === 'workspace') return scope;
  throw new SimulatorError('invalid-input', 'The scope of a rule must be "user" or "workspace".');
}

/** @throws SimulatorError `invalid-input` */
export function checkName(name: unknown): string {
  if (typeof name === 'string') return name;
  throw new SimulatorError('invalid-input', 'The name of a rule must be a string.');
}

/** The name of a rule that was created without one. */
export function defaultName(trigger: EventName, scope: Rule['scope']): string {
  const verb = trigger === 'call:started' ? 'start' : 'finish';
  return scope === 'user'
    ? `I ${verb} a call`
    : `A teammate ${verb}${verb === 'start' ? 's' : 'es'} a call`;
}

/** Whether a host name always means this machine, whatever DNS says. */
export function isLoopback(hostname: string): boolean {
  return (
    /^(?:[^.]+\.)*localhost$/i.test(hostname) ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname) ||
    hostname === '[::1]'
  );
}

/**
 * Checks the URL of an action.
 * @throws SimulatorError `invalid-input` when it is not an http or https URL, `external-target` for
 *   another machine unless that is allowed
 */
export function checkTargetUrl(url: unknown, allowExternal: boolean): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password)
    throw new SimulatorError(
      'invalid-input',
      'The URL of a webhook action must be an http or https URL without user name and password.',
    );
  if (!allowExternal && !isLoopback(parsed.hostname))
    throw new SimulatorError(
      'external-target',
      `${parsed.host} is not this machine. To send deliveries there, set allowExternal (on the command line: simulate --allow-external).`,
    );
  return parsed.href;
}
