import type { Command } from 'commander';
import type { App } from './app.ts';

/** Adds its arguments, options and action to a command that has its name and description. */
type Define = (app: App, base: Command) => Command;

/** A command, which is loaded when it is asked for. */
type Entry = readonly [name: string, what: string, load: () => Promise<Define>];

/** All commands, in the groups of `--help`. */
export const COMMANDS: readonly (readonly [heading: string, entries: readonly Entry[]])[] = [
  [
    'Simulate the service:',
    [
      [
        'simulate',
        'Run the service on this machine, with the inspector, a web page',
        async () => (await import('./commands/simulate.ts')).simulateCommand,
      ],
      [
        'trigger',
        'Trigger an event or a scenario',
        async () => (await import('./commands/trigger.ts')).triggerCommand,
      ],
      [
        'deliveries',
        'List and inspect what the simulator sent',
        async () => (await import('./commands/deliveries.ts')).deliveriesCommand,
      ],
      [
        'resend',
        'Send a delivery of the simulator again',
        async () => (await import('./commands/deliveries.ts')).resendCommand,
      ],
      [
        'clock',
        "Show or advance the simulator's clock",
        async () => (await import('./commands/clock-and-chaos.ts')).clockCommand,
      ],
      [
        'chaos',
        'Inject faults into the simulator',
        async () => (await import('./commands/clock-and-chaos.ts')).chaosCommand,
      ],
      [
        'rules',
        'Manage the rules of the simulator',
        async () => (await import('./commands/rules.ts')).rulesCommand,
      ],
    ],
  ],
  [
    'Work with single deliveries:',
    [
      [
        'send',
        'Sign and send one delivery',
        async () => (await import('./commands/send.ts')).sendCommand,
      ],
      [
        'listen',
        'Receive, verify and show deliveries',
        async () => (await import('./commands/listen.ts')).listenCommand,
      ],
      [
        'check',
        'Test a receiver with forged, stale and replayed requests',
        async () => (await import('./commands/check.ts')).checkCommand,
      ],
      [
        'sign',
        'Print the signature headers for a body',
        async () => (await import('./commands/send.ts')).signCommand,
      ],
      [
        'verify',
        'Verify a signature and explain a mismatch',
        async () => (await import('./commands/verify.ts')).verifyCommand,
      ],
      [
        'explain',
        'Explain a response of a receiver',
        async () => (await import('./commands/explain.ts')).explainCommand,
      ],
      [
        'infer',
        'Find unknown field names in captured deliveries',
        async () => (await import('./commands/infer.ts')).inferCommand,
      ],
    ],
  ],
  [
    'Find and repair what went wrong:',
    [
      [
        'doctor',
        'Check secrets, store, receiver and REST API',
        async () => (await import('./commands/doctor.ts')).doctorCommand,
      ],
      [
        'mcp',
        'Let an assistant look at all of this (Model Context Protocol)',
        async () => (await import('./commands/mcp.ts')).mcpCommand,
      ],
      [
        'dead-letters',
        "List and redrive what failed for good, in a receiver's store",
        async () => (await import('./commands/dead-letters.ts')).deadLettersCommand,
      ],
      [
        'reconcile',
        'Find calls whose webhooks never came, and send their events',
        async () => (await import('./commands/reconcile.ts')).reconcileCommand,
      ],
    ],
  ],
  [
    "Use the service's REST API:",
    [
      [
        'events',
        'List activity events',
        async () => (await import('./commands/rest.ts')).eventsCommand,
      ],
      ['calls', 'List call records', async () => (await import('./commands/rest.ts')).callsCommand],
      [
        'recording',
        'Download the recording of a call',
        async () => (await import('./commands/rest.ts')).recordingCommand,
      ],
      [
        'rotate',
        'Rotate the signing secret of an action',
        async () => (await import('./commands/rotate.ts')).rotateCommand,
      ],
    ],
  ],
];
