import type { MountedRequest } from '../http/console-request.ts';
import type { CsrfTokens } from '../http/csrf.ts';
import type { KnownOperator } from '../http/operator.ts';
import type { ConsoleAction, ConsoleSettings } from '../options.ts';
import type { ReconcileRuns } from '../recovery/reconcile-runs.ts';
import type { RedriveTasks } from '../recovery/redrive-tasks.ts';
import type { DeadLetterReader } from '../recovery/dead-letter-reader.ts';
import type { HealthChecks } from './health-checks.ts';

/** What all routes use. */
export interface ConsoleParts {
  readonly settings: ConsoleSettings;
  readonly tokens: CsrfTokens;
  readonly health: HealthChecks;
  /** Absent without `deadLetters`. */
  readonly letters: DeadLetterReader | undefined;
  readonly redrives: RedriveTasks | undefined;
  /** Absent without `reconcile`. */
  readonly reconciles: ReconcileRuns | undefined;
  /** Logs what somebody did. */
  readonly log: (action: ConsoleAction) => void;
}

/** One request that may be answered. */
export interface RouteContext extends ConsoleParts {
  readonly request: MountedRequest;
  readonly operator: KnownOperator;
  /** The decoded parts of the path. */
  readonly parameters: readonly string[];
  /** The checked JSON object of a POST. */
  readonly body: Readonly<Record<string, unknown>>;
}
