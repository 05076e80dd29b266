import type { Command } from 'commander';
import type { App } from './app.ts';

/** A command, which is loaded when it is asked for. */
export interface CommandEntry {
  readonly name: string;
  readonly what: string;
  /** Adds its arguments, options and action to a command that has its name and description. */
  readonly load: () => Promise<(app: App, base: Command) => Command>;
}

/** All commands, in the groups of `--help`. */
export const COMMANDS: readonly (readonly [heading: string, entries: readonly CommandEntry[]])[] = [
  [
    'Simulate the service:',
    [
      {
        name: 'simulate',
        what: 'Run the service on this machine, with the inspector, a web page',
        load: async () => (await import('./commands/simulate.ts')).simulateCommand,
      },
      {
        name: 'trigger',
        what: 'Trigger an event or a scenario',
        load: async () => (await import('./commands/trigger.ts')).triggerCommand,
      },
      {
        name: 'deliveries',
        what: 'List and inspect what the simulator sent',
        load: async () => (await import('./commands/deliveries.ts')).deliveriesCommand,
      },
      {
        name: 'resend',
        what: 'Send a delivery of the simulator again',
        load: async () => (await import('./commands/deliveries.ts')).resendCommand,
      },
      {
        name: 'clock',
        what: "Show or advance the simulator's clock",
        load: async () => (await import('./commands/clock-and-chaos.ts')).clockCommand,
      },
      {
        name: 'chaos',
        what: 'Inject faults into the simulator',
        load: async () => (await import('./commands/clock-and-chaos.ts')).chaosCommand,
      },
      {
        name: 'rules',
        what: 'Manage the rules of the simulator',
        load: async () => (await import('./commands/rules.ts')).rulesCommand,
      },
    ],
  ],
  [
    'Work with single deliveries:',
    [
      {
        name: 'send',
        what: 'Sign and send one delivery',
        load: async () => (await import('./commands/send.ts')).sendCommand,
      },
      {
        name: 'listen',
        what: 'Receive, verify and show deliveries',
        load: async () => (await import('./commands/listen.ts')).listenCommand,
      },
      {
        name: 'check',
        what: 'Test a receiver with forged, stale and replayed requests',
        load: async () => (await import('./commands/check.ts')).checkCommand,
      },
      {
        name: 'sign',
        what: 'Print the signature headers for a body',
        load: async () => (await import('./commands/send.ts')).signCommand,
      },
      {
        name: 'verify',
        what: 'Verify a signature and explain a mismatch',
        load: async () => (await import('./commands/verify.ts')).verifyCommand,
      },
      {
        name: 'explain',
        what: 'Explain a response of a receiver',
        load: async () => (await import('./commands/explain.ts')).explainCommand,
      },
      {
        name: 'infer',
        what: 'Find unknown field names in captured deliveries',
        load: async () => (await import('./commands/infer.ts')).inferCommand,
      },
    ],
  ],
  [
    'Find and repair what went wrong:',
    [
      {
        name: 'doctor',
        what: 'Check secrets, store, receiver and REST API',
        load: async () => (await import('./commands/doctor.ts')).doctorCommand,
      },
      {
        name: 'mcp',
        what: 'Let an assistant look at all of this (Model Context Protocol)',
        load: async () => (await import('./commands/mcp.ts')).mcpCommand,
      },
      {
        name: 'dead-letters',
        what: "List and redrive what failed for good, in a receiver's store",
        load: async () => (await import('./commands/dead-letters.ts')).deadLettersCommand,
      },
      {
        name: 'reconcile',
        what: 'Find calls whose webhooks never came, and send their events',
        load: async () => (await import('./commands/reconcile.ts')).reconcileCommand,
      },
    ],
  ],
  [
    "Use the service's REST API:",
    [
      {
        name: 'events',
        what: 'List activity events',
        load: async () => (await import('./commands/rest.ts')).eventsCommand,
      },
      {
        name: 'calls',
        what: 'List call records',
        load: async () => (await import('./commands/rest.ts')).callsCommand,
      },
      {
        name: 'recording',
        what: 'Download the recording of a call',
        load: async () => (await import('./commands/rest.ts')).recordingCommand,
      },
      {
        name: 'rotate',
        what: 'Rotate the signing secret of an action',
        load: async () => (await import('./commands/rotate.ts')).rotateCommand,
      },
    ],
  ],
];
