import type { Command } from 'commander';
import type { App } from './app.ts';

/** Adds its arguments, options and action to a command that has its name and description. */
type Define = (app: App, base: Command) => Command;

/** All commands with what they do, in the groups of `--help`. */
export const COMMANDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Simulate the service:': {
    simulate: 'Run the service on this machine, with the inspector, a web page',
    trigger: 'Trigger an event or a scenario',
    deliveries: 'List and inspect what the simulator sent',
    resend: 'Send a delivery of the simulator again',
    clock: "Show or advance the simulator's clock",
    chaos: 'Inject faults into the simulator',
    rules: 'Manage the rules of the simulator',
  },
  'Work with single deliveries:': {
    send: 'Sign and send one delivery',
    listen: 'Receive, verify and show deliveries',
    check: 'Test a receiver with forged, stale and replayed requests',
    sign: 'Print the signature headers for a body',
    verify: 'Verify a signature and explain a mismatch',
    explain: 'Explain a response of a receiver',
    infer: 'Find unknown field names in captured deliveries',
  },
  'Find and repair what went wrong:': {
    doctor: 'Check secrets, store, receiver and REST API',
    mcp: 'Let an assistant look at all of this (Model Context Protocol)',
    'dead-letters': "List and redrive what failed for good, in a receiver's store",
    reconcile: 'Find calls whose webhooks never came, and send their events',
  },
  "Use the service's REST API:": {
    events: 'List activity events',
    calls: 'List call records',
    recording: 'Download the recording of a call',
    rotate: 'Rotate the signing secret of an action',
  },
};

/** Loads a command. */
export const LOAD: Readonly<Record<string, () => Promise<Define>>> = {
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand,
  trigger: async () => (await import('./commands/trigger.ts')).triggerCommand,
  deliveries: async () => (await import('./commands/deliveries.ts')).deliveriesCommand,
  resend: async () => (await import('./commands/deliveries.ts')).resendCommand,
  clock: async () => (await import('./commands/clock-and-chaos.ts')).clockCommand,
  chaos: async () => (await import('./commands/clock-and-chaos.ts')).chaosCommand,
  rules: async () => (await import('./commands/rules.ts')).rulesCommand,
  send: async () => (await import('./commands/send.ts')).sendCommand,
  listen: async () => (await import('./commands/listen.ts')).listenCommand,
  check: async () => (await import('./commands/check.ts')).checkCommand,
  sign: async () => (await import('./commands/send.ts')).signCommand,
  verify: async () => (await import('./commands/verify.ts')).verifyCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  infer: async () => (await import('./commands/infer.ts')).inferCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand,
  'dead-letters': async () => (await import('./commands/dead-letters.ts')).deadLettersCommand,
  reconcile: async () => (await import('./commands/reconcile.ts')).reconcileCommand,
  events: async () => (await import('./commands/rest.ts')).eventsCommand,
  calls: async () => (await import('./commands/rest.ts')).callsCommand,
  recording: async () => (await import('./commands/rest.ts')).recordingCommand,
  rotate: async () => (await import('./commands/rotate.ts')).rotateCommand,
};
