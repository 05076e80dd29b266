import type { Server } from 'node:http';
import type { Scheme } from './sending/schemes.ts';
import type { Verify } from './verify/signed-message.ts';

/** One contender: whose headers it reads, and its module, which only its own process loads. */
export interface Contender<Module> {
  readonly scheme: Scheme;
  /** Gives another answer than the rest, because it lets nobody choose. */
  readonly ownAnswer?: true;
  /** Costs so much that an eighth of the requests tells as much. */
  readonly slow?: true;
  load(): Promise<Module>;
}

export interface HttpModule {
  /** Starts a server on a free port of the loopback. */
  listen(): Server | Promise<Server>;
}

export interface VerifyModule {
  verify: Verify;
}

/** Servers that take one delivery a request. */
export const HTTP = {
  'node bare': { scheme: 'service', load: () => import('./http/node-bare.ts') },
  'node ours': { scheme: 'service', load: () => import('./http/node-ours.ts') },
  'express raw': { scheme: 'service', load: () => import('./http/express-raw.ts') },
  'express raw + sendStatus': {
    scheme: 'service',
    ownAnswer: true,
    load: () => import('./http/express-raw-send.ts'),
  },
  'express + standardwebhooks': {
    scheme: 'standard',
    load: () => import('./http/express-standardwebhooks.ts'),
  },
  'express + standardwebhooks + lru': {
    scheme: 'standard',
    load: () => import('./http/express-standardwebhooks-lru.ts'),
  },
  'express + octokit': {
    scheme: 'github',
    ownAnswer: true,
    load: () => import('./http/express-octokit.ts'),
  },
  'express ours': { scheme: 'service', load: () => import('./http/express-ours.ts') },
  'fastify raw': { scheme: 'service', load: () => import('./http/fastify-raw.ts') },
  'fastify + standardwebhooks': {
    scheme: 'standard',
    load: () => import('./http/fastify-standardwebhooks.ts'),
  },
  'fastify + standardwebhooks + lru': {
    scheme: 'standard',
    load: () => import('./http/fastify-standardwebhooks-lru.ts'),
  },
  'fastify ours': { scheme: 'service', load: () => import('./http/fastify-ours.ts') },
  'next route': { scheme: 'service', slow: true, load: () => import('./http/next-bare.ts') },
  'next ours': { scheme: 'service', slow: true, load: () => import('./http/next-ours.ts') },
} satisfies Record<string, Contender<HttpModule>>;

/** Functions that check one signature. */
export const VERIFY = {
  standardwebhooks: { scheme: 'standard', load: () => import('./verify/standardwebhooks.ts') },
  'standardwebhooks, signature': {
    scheme: 'standard',
    load: () => import('./verify/standardwebhooks-signature.ts'),
  },
  svix: { scheme: 'svix', load: () => import('./verify/svix.ts') },
  stripe: { scheme: 'stripe', load: () => import('./verify/stripe.ts') },
  octokit: { scheme: 'github', load: () => import('./verify/octokit.ts') },
  createHmac: { scheme: 'service', load: () => import('./verify/create-hmac.ts') },
  'two hashes (floor)': { scheme: 'service', load: () => import('./verify/hash-floor.ts') },
  ours: { scheme: 'service', load: () => import('./verify/ours.ts') },
} satisfies Record<string, Contender<VerifyModule>>;

export type HttpName = keyof typeof HTTP;
export type VerifyName = keyof typeof VERIFY;
