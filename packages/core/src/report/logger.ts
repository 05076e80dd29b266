import { callHook } from './hooks.ts';
import { escaped, oneLine } from './visible.ts';

/**
 * Where log lines go: `console`, or a structured logger that takes the fields first, as pino, Fastify
 * and bunyan do. A logger that has a method `log` (winston, Nest) or `appendKeys` (Powertools) is
 * called with the message first. Any other logger that takes the message first must be wrapped, as in
 * the example. Errors that the logger throws are ignored.
 * @example
 * const logger: Logger = {
 *   warn: (fields, message) => logTape.warn(message, fields),
 *   error: (fields, message) => logTape.error(message, fields),
 * };
 */
export interface Logger {
  /** Writes details for debugging. Without this method, they are dropped. */
  debug?(fields: object, message: string): unknown;
  /** Writes normal events, such as the start of a shutdown. Without this method, they are dropped. */
  info?(fields: object, message: string): unknown;
  /** Writes problems that need attention, such as a failed attempt that will be retried. */
  warn(fields: object, message: string): unknown;
  /** Writes failures. */
  error(fields: object, message: string): unknown;
}

/** Logs fields and a message, or a message alone. */
export interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}

/**
 * The logger that handlers have as `context.log`. A pino or Fastify logger is passed on as it is. For
 * other loggers, `debug` and `info` do nothing if the logger lacks them.
 */
export interface HandlerLogger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
}

type Level = keyof HandlerLogger;
const LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies Level[];
const isLevel = (name: unknown): name is Level => LEVELS.includes(name as Level);

/**
 * Lets one log line through every 10 seconds, and counts the lines that are left out: an engine may report an
 * error for each of its attempts to reconnect.
 * @example
 * const limit = new LineLimit();
 * engine.on('error', (error) => {
 *   if (limit.pass() !== undefined) log.warn({ err: loggedError(error).err }, 'The engine reported an error.');
 * });
 */
export class LineLimit {
  #passedAt = -Infinity;
  #suppressed = 0;

  /**
   * Asks whether a line may be written now.
   * @returns the number of lines that were left out since the last line, or `undefined` if this one has to be
   *   left out as well
   */
  pass(): number | undefined {
    const now = performance.now();
    if (now - this.#passedAt < LINE_INTERVAL_MS) {
      this.#suppressed += 1;
      return undefined;
    }
    const suppressed = this.#suppressed;
    this.#passedAt = now;
    this.#suppressed = 0;
    return suppressed;
  }
}

const LINE_INTERVAL_MS = 10_000;

/**
 * Returns the same logger with all four methods, whose errors are dropped. `console` gets readable
 * lines.
 */
export function safeLogger(logger: Logger): Required<Logger> {
  const method = (level: Level) => (fields: object, message: string) => {
    // A logger that mistakes the fields for the message would otherwise write `[object Object]`.
    const toString = () => consoleLine(fields, message);
    const readable = Object.defineProperty({ ...fields }, 'toString', { value: toString });
    callHook((line) => write(logger, level, readable, line), message);
  };
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  };
}

const handlerLoggers = new WeakMap<Logger, HandlerLogger>();

export function handlerLogger(logger: Logger): HandlerLogger {
  const known = handlerLoggers.get(logger);
  if (known) return known;
  if (isPinoLike(logger)) return logger; // one for each request: nothing to keep
  const complete = withAllLevels(logger);
  handlerLoggers.set(logger, complete);
  return complete;
}

/**
 * The logger that pino-http and others add to a request. A logger that may not accept fields is not
 * used, because the fields must not get lost.
 */
export function requestLogger(log: unknown): Logger | undefined {
  const logger = Object(log) as Logger;
  if (!hasMethods(logger, 'warn', 'error')) return undefined;
  const takesFields = isPinoLike(logger) || takesMessageFirst(logger) || isConsole(logger);
  return takesFields ? logger : undefined;
}

const hasMethods = (logger: object, ...names: string[]): boolean =>
  names.every((name) => typeof Reflect.get(logger, name) === 'function');

/** pino's methods take the fields first, or a message alone. */
const isPinoLike = (logger: object): logger is HandlerLogger =>
  hasMethods(logger, 'child', ...LEVELS) && !takesMessageFirst(logger);

/** winston, Nest, Firebase, log4js and others have `log`; pino and bunyan do not. */
const takesMessageFirst = (logger: object): boolean =>
  hasMethods(logger, 'log') || hasMethods(logger, 'appendKeys'); // Powertools

/** A proxy: a handler may use everything else that its logger has. */
function withAllLevels(logger: Logger): HandlerLogger {
  const method = (level: Level) => (first: unknown, second?: unknown) => {
    const [fields, message] = typeof first === 'string' ? [second, first] : [first, second];
    const text = typeof message === 'string' ? message : '';
    callHook((line) => write(logger, level, Object(fields) as object, line), text);
  };
  const methods = new Map(LEVELS.map((level) => [level, method(level)]));
  // Not of the logger itself: if it is frozen, a proxy of it could not have other methods.
  return new Proxy({} as HandlerLogger, {
    get(_target, name) {
      if (isLevel(name)) return methods.get(name);
      const value: unknown = Reflect.get(logger, name);
      return typeof value === 'function' ? (value.bind(logger) as unknown) : value;
    },
    has: (_target, name) => name in logger,
  });
}

function write(logger: Logger, level: Level, fields: object, message: string): unknown {
  if (isConsole(logger)) {
    logger[level](consoleLine(fields, message));
    return undefined;
  }
  if (!takesMessageFirst(logger)) return logger[level]?.(fields, message);
  return (logger as unknown as MessageFirst)[level]?.(message, withPlainError(fields));
}

type MessageFirst = { [Name in Level]?: (message: string, fields: object) => unknown };

/** winston writes an error among the fields as `{}`. */
function withPlainError(fields: object): object {
  const { err } = fields as { err?: unknown };
  if (!(err instanceof Error)) return fields;
  const { name, message, stack } = err;
  return { ...fields, err: { name, message, stack } };
}

/** `instanceof` would not know the consoles of other realms. */
const isConsole = (logger: object): logger is Console =>
  logger === globalThis.console || 'groupEnd' in logger;

/**
 * A line for `console`: the message, then the fields, with the frames of `err` below.
 * @example
 * consoleLine({ callId: 'c1', rows: 3 }, 'saved') // 'saved callId=c1 rows=3'
 */
export function consoleLine(fields: object, message: string): string {
  const { err, docs, ...rest } = fields as Record<string, unknown>;
  const said = `${String(rest['status'])} ${String(rest['outcome'])}`;
  const pairs = Object.entries(rest)
    .filter(([name]) => !(message.includes(said) && (name === 'status' || name === 'outcome')))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${shown(value)}`);
  const parts = [
    err === undefined ? message : withError(message, err),
    ...pairs,
    ...(typeof docs === 'string' ? [`See ${docs}`] : []),
  ];
  return parts.filter((part) => part !== '').join(' ') + framesOf(err);
}

/** Our own messages already contain the text of the error. A handler's messages may not. */
function withError(message: string, err: unknown): string {
  const text = err instanceof Error ? err.message : shown(err);
  if (message.includes(text)) return message;
  const whole = err instanceof Error ? `${err.name}: ${text}` : text;
  return message === '' ? whole : `${message}: ${whole}`;
}

const MAX_CAUSES = 5;

function framesOf(err: unknown): string {
  let text = '';
  let error = err;
  for (let depth = 0; error instanceof Error && depth <= MAX_CAUSES; depth++) {
    if (depth > 0) text += `\n  caused by ${oneLine(`${error.name}: ${error.message}`)}`;
    const { stack = '' } = error;
    const start = stack.search(/\n\s+at /);
    if (start !== -1) text += stack.slice(start);
    error = error.cause;
  }
  return text;
}

/** On one line, without terminal codes. */
function shown(value: unknown): string {
  if (typeof value === 'string') return /^[\x21-\x7e]+$/.test(value) ? value : quoted(value);
  if (value instanceof Error) return quoted(`${value.name}: ${value.message}`);
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return quoted(value);
  } catch {
    return '[object]'; // cyclic, or with a bigint
  }
}

function quoted(value: unknown): string {
  const json: unknown = JSON.stringify(value);
  return typeof json === 'string' ? escaped(json) : '';
}
