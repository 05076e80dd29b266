import type { Server } from 'node:http';
import type { Scheme } from './deliveries.ts';

/** What is known of an HTTP contender without loading its framework. */
export interface Contender {
  readonly scheme: Scheme;
  /** Responds in its own way, because the response can't be chosen. */
  readonly ownResponse?: true;
  /** So slow that an eighth of the requests is enough. */
  readonly slow?: true;
}

/** Servers that handle one delivery per request; the first word is the framework. */
export const HTTP = {
  'node bare': { scheme: 'service' },
  'node + call-webhooks': { scheme: 'service' },
  'node + call-webhooks oneAtATime': { scheme: 'service' },
  'node + call-webhooks without channels': { scheme: 'service' },
  'sqlite + transaction': { scheme: 'service', slow: true },
  'sqlite + completeIn': { scheme: 'service', slow: true },
  'express raw': { scheme: 'service' },
  'express raw + sendStatus': { scheme: 'service', ownResponse: true },
  'express + standardwebhooks': { scheme: 'standard' },
  'express + standardwebhooks + lru': { scheme: 'standard' },
  'express + octokit': { scheme: 'github', ownResponse: true },
  'express + call-webhooks': { scheme: 'service' },
  'fastify raw': { scheme: 'service' },
  'fastify + standardwebhooks': { scheme: 'standard' },
  'fastify + standardwebhooks + lru': { scheme: 'standard' },
  'fastify + call-webhooks': { scheme: 'service' },
  'next route': { scheme: 'service', slow: true },
  'next + call-webhooks': { scheme: 'service', slow: true },
} satisfies Record<string, Contender>;

export type HttpName = keyof typeof HTTP;

/** A contender, or the same contender over the version before: `--before`. */
export type Versioned<Name extends string> = Name | `${Name}, before`;

const BEFORE = ', before';
export const isBefore = (name: string): boolean => name.endsWith(BEFORE);
/** The contender without the version. */
export const baseName = <Name extends string>(name: Versioned<Name>): Name =>
  (isBefore(name) ? name.slice(0, -BEFORE.length) : name) as Name;

/** The names, and after each of ours the same over the version before, if there is one. */
export function withBefore<Name extends string>(
  names: readonly Name[],
  before: string | undefined,
): Versioned<Name>[] {
  if (before === undefined) return [...names];
  return names.flatMap((name) =>
    /call-webhooks$|^core$|^1000000$/.test(name) ? [name, `${name}${BEFORE}` as const] : [name],
  );
}

/**
 * Starts a server on a free port of the loopback.
 * @param root the checkout whose packages it uses
 */
export async function listen(name: HttpName, root: string): Promise<Server> {
  const servers: Record<string, (root: string) => Server | Promise<Server>> = {
    ...(name.startsWith('node') && (await import('./http/node.ts')).servers),
    ...(name.startsWith('sqlite') && (await import('./http/sqlite.ts')).servers),
    ...(name.startsWith('express') && (await import('./http/express.ts')).servers),
    ...(name.startsWith('fastify') && (await import('./http/fastify.ts')).servers),
    ...(name.startsWith('next') && (await import('./http/next.ts')).servers),
  };
  const start = servers[name];
  if (!start) throw new Error(`${name} has no server.`);
  return start(root);
}
