import type { Command } from 'commander';
import type { App } from './app.ts';

/** Adds its arguments, options and action to a command that has its name and description. */
type Define = (app: App, base: Command) => Command;

/** A command: what `--help` says of it, and how it is loaded when it is used. */
interface Listed {
  readonly what: string;
  readonly load: () => Promise<Define>;
}

/** All commands by their names, in the groups of `--help`. */
export const COMMANDS: Readonly<Record<string, Readonly<Record<string, Listed>>>> = {
  'Simulate the service:': {
    simulate: {
      what: 'Run the service on this machine, with the inspector (a web page)',
      load: async () => (await import('./commands/simulate.ts')).simulateCommand,
    },
    trigger: {
      what: 'Trigger an event or a scenario',
      load: async () => (await import('./commands/trigger.ts')).triggerCommand,
    },
    events: {
      what: 'List and inspect the events that the simulator sent',
      load: async () => (await import('./commands/simulator-events.ts')).simulatorEventsCommand,
    },
    resend: {
      what: 'Resend an event from the simulator',
      load: async () => (await import('./commands/simulator-events.ts')).resendCommand,
    },
    clock: {
      what: "Show or advance the simulator's clock",
      load: async () => (await import('./commands/clock-and-chaos.ts')).clockCommand,
    },
    chaos: {
      what: 'Inject faults into the simulator',
      load: async () => (await import('./commands/clock-and-chaos.ts')).chaosCommand,
    },
    rules: {
      what: 'Manage the rules of the simulator',
      load: async () => (await import('./commands/rules.ts')).rulesCommand,
    },
  },
  'Work with single deliveries:': {
    send: {
      what: 'Sign and send one delivery',
      load: async () => (await import('./commands/send.ts')).sendCommand,
    },
    listen: {
      what: 'Receive, verify and show deliveries',
      load: async () => (await import('./commands/listen.ts')).listenCommand,
    },
    check: {
      what: 'Test a receiver with forged, stale and replayed requests',
      load: async () => (await import('./commands/check.ts')).checkCommand,
    },
    sign: {
      what: 'Print the signature headers for a body',
      load: async () => (await import('./commands/send.ts')).signCommand,
    },
    verify: {
      what: 'Verify a signature and explain a mismatch',
      load: async () => (await import('./commands/verify.ts')).verifyCommand,
    },
    explain: {
      what: "Explain a receiver's response",
      load: async () => (await import('./commands/explain.ts')).explainCommand,
    },
    infer: {
      what: 'Find unknown field names in captured deliveries',
      load: async () => (await import('./commands/infer.ts')).inferCommand,
    },
  },
  'Find and repair what went wrong:': {
    status: {
      what: 'Show what needs attention, before a rule is paused',
      load: async () => (await import('./commands/status.ts')).statusCommand,
    },
    doctor: {
      what: 'Check secrets, store, receiver and REST API',
      load: async () => (await import('./commands/doctor.ts')).doctorCommand,
    },
    mcp: {
      what: 'Let an AI assistant inspect all of this (Model Context Protocol)',
      load: async () => (await import('./commands/mcp.ts')).mcpCommand,
    },
    'dead-letters': {
      what: "List and redrive the dead letters in a receiver's store",
      load: async () => (await import('./commands/dead-letters.ts')).deadLettersCommand,
    },
    erase: {
      what: 'Erase stored data by person, call, tenant or age',
      load: async () => (await import('./commands/erase.ts')).eraseCommand,
    },
    reconcile: {
      what: 'Find calls whose webhooks never arrived, and send their events',
      load: async () => (await import('./commands/reconcile.ts')).reconcileCommand,
    },
  },
  "Use the service's REST API:": {
    activity: {
      what: 'List the activity events of messages',
      load: async () => (await import('./commands/rest.ts')).activityCommand,
    },
    calls: {
      what: 'List call records',
      load: async () => (await import('./commands/rest.ts')).callsCommand,
    },
    recording: {
      what: 'Download the recording of a call',
      load: async () => (await import('./commands/rest.ts')).recordingCommand,
    },
    rotate: {
      what: 'Rotate the signing secret of an action',
      load: async () => (await import('./commands/rotate.ts')).rotateCommand,
    },
  },
};
