import { EVENT_NAMES } from '@call-webhooks/core';
import type { Call, ChaosMode, DeliverySummary, Rule } from '@call-webhooks/simulator';
import type { App } from '../../app.ts';
import { simulatorOf, type Connection } from '../../simulator/connection.ts';

/** A word that may come next, and what it does. */
export interface Word {
  readonly word: string;
  readonly what: string;
}

/** What the running simulator knows: the scripts ask for it at each completion. */
export const KINDS = ['deliveries', 'rules', 'actions', 'calls'] as const;
export type Kind = (typeof KINDS)[number];

/** The values of options that take one of a few words, besides the choices that commander knows. */
export const OPTION_VALUES: Readonly<Record<string, readonly string[] | Kind>> = {
  '--event': EVENT_NAMES,
  '--trigger': EVENT_NAMES,
  '--scope': ['workspace', 'user'],
  '--type': ['opened', 'clicked', 'downloaded', 'replied', 'unopened'],
  '--call': 'calls',
  '--rule': 'rules',
};

/** Not imported: the simulator includes a web server, and a completion has to be quick. */
const MODES: Readonly<Record<ChaosMode, true>> = {
  duplicate: true,
  concurrentDuplicates: true,
  reorder: true,
  dropResponse: true,
  slowBody: true,
  wrongSecret: true,
  oldSecret: true,
  clockSkew: true,
  replay: true,
  tamperedBody: true,
};

/** The modes of `chaos set`. */
export const CHAOS_MODES = Object.keys(MODES);

/** The ids that commands take as arguments. */
export const ARGUMENT_KINDS: Readonly<Record<string, readonly Kind[]>> = {
  'deliveries show': ['deliveries'],
  replay: ['deliveries'],
  'rules update': ['rules'],
  'rules remove': ['rules'],
  'rules pause': ['rules'],
  'rules resume': ['rules'],
  'rules add-action': ['rules'],
  'rules update-action': ['actions'],
  'rules remove-action': ['actions'],
  rotate: ['rules', 'actions'],
  recording: ['calls'],
};

/** Nobody waits longer for a completion. */
const TIMEOUT_MS = 1_000;
const MOST = 50;

/** The ids that the running simulator has now, newest first. Without a simulator there are none. */
export async function valuesOf(app: App, kind: Kind): Promise<Word[]> {
  const until = AbortSignal.any([app.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    return (await READ[kind](simulatorOf(app, {}, until))).reverse();
  } catch {
    return [];
  }
}

const READ: Readonly<Record<Kind, (connection: Connection) => Promise<Word[]>>> = {
  deliveries: async (connection) =>
    (await connection.get<DeliverySummary[]>('/deliveries', { limit: MOST })).map(
      ({ _id, eventName, state }) => ({ word: _id, what: `${eventName} ${state}` }),
    ),
  rules: async (connection) =>
    (await connection.get<Rule[]>('/rules')).map(({ _id, name, state }) => ({
      word: _id,
      what: `${name}, ${state}`,
    })),
  actions: async (connection) =>
    (await connection.get<Rule[]>('/rules')).flatMap(({ trigger, actions }) =>
      actions.map(({ _id, url }) => ({ word: _id, what: `${trigger} to ${url}` })),
    ),
  calls: async (connection) =>
    (await connection.get<Call[]>('/calls')).slice(-MOST).map((call) => ({
      word: call._id,
      what: call.calledName ?? call.calledNumber,
    })),
};
