import { isEmail, isPhoneNumber } from '@call-webhooks/client/infer';

const URL_START = /^https?:\/\//i;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const HEX_ID = /^(?=.*\d)[\da-f]{12,}$/i;
const DATE = /^\d{4}-\d\d-\d\d/;
/** `<callId>:recording-available`: the id is one part, and the same as elsewhere. */
const DERIVED_ID = /^(.+):(recording-available|call:started|call:completed)$/s;
/** The parts of the service's own paths. */
const PATH_WORDS = new Set(['', 'v1', 'calls', 'recording']);
const CONSONANTS = 'zvkxqjw';
const VOWELS = 'uoaei';
const IDEOGRAPHS = '例文見本試験用語句';
const MAX_TRIES = 10_000;

/**
 * Replaces values by fakes of the same shape. The same value always gets the same fake, and two values
 * get two. A fake is made from a counter and never from the value, so nothing leads back to it.
 */
export class Fakes {
  readonly #fakes = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  /** What must not be used for another value. */
  readonly #used: Set<string>;

  /** @param used fakes of earlier recordings in the same file */
  constructor(used: Iterable<string> = []) {
    this.#used = new Set(used);
  }

  /** The fake of a text: an e-mail address for one, a phone number for one, and so on. */
  text(real: string): string {
    if (real.trim() === '') return real;
    const derived = DERIVED_ID.exec(real);
    if (derived) return `${this.text(derived[1] ?? '')}:${derived[2] ?? ''}`;
    // As booleans: they would narrow the text to never.
    const [isNumber, isMail]: boolean[] = [isPhoneNumber(real), isEmail(real)];
    if (isNumber) return this.#intoDigits(real);
    if (URL_START.test(real) && URL.canParse(real))
      return this.#fake('url', real, () => this.#url(real));
    if (isMail) return this.#fake('email', real, (n) => `person-${String(n)}@example.com`);
    if (UUID.test(real))
      return this.#fake('uuid', real, (n) => `00000000-0000-4000-8000-${hex(n, 12)}`);
    if (HEX_ID.test(real)) return this.#fake('hex', real, (n) => hex(n, real.length));
    if (DATE.test(real)) return this.#fake('date', real, (n) => date(n, real.length));
    return this.#fake('text', real, (n) => likeText(real, n));
  }

  /** The fake of a number, with as many digits. */
  number(real: number): number {
    const text = String(real);
    if (!/^-?\d+(?:\.\d+)?$/.test(text)) return 1;
    return Number(text.replace(/\d+/g, (digits) => this.#digits(digits)));
  }

  #intoDigits(real: string): string {
    const digits = this.#digits(real.replace(/\D/g, ''));
    let at = 0;
    return real.replace(/\d/g, () => digits.charAt(at++));
  }

  #digits(real: string): string {
    return this.#fake('digits', real, (n) => likeNumber(real.length, n));
  }

  /** The service's own paths keep their words, and the id in them is the one of the call. */
  #url(real: string): string {
    const { protocol, pathname, searchParams } = new URL(real);
    const part = (text: string) => encodeURIComponent(this.text(text));
    const path = pathname
      .split('/')
      .map((word) => (PATH_WORDS.has(word) ? word : part(decoded(word))))
      .join('/');
    const query = [...searchParams].map(([name, value]) => `${part(name)}=${part(value)}`);
    return `${protocol}//api.example.com${path}${query.length > 0 ? '?' : ''}${query.join('&')}`;
  }

  #fake(kind: string, real: string, make: (n: number) => string): string {
    const key = `${kind} ${real}`;
    const known = this.#fakes.get(key);
    if (known !== undefined) return known;
    let fake = real;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const n = (this.#counts.get(kind) ?? 0) + 1;
      this.#counts.set(kind, n);
      fake = make(n);
      // The parts of a URL are unique already.
      if (fake !== real && (kind === 'url' || !this.#used.has(fake))) break;
    }
    this.#used.add(fake);
    this.#fakes.set(key, fake);
    return fake;
  }
}

const hex = (n: number, length: number) => n.toString(16).padStart(length, '0').slice(-length);

const date = (n: number, length: number) =>
  new Date(946_684_800_000 + n * 86_400_000).toISOString().slice(0, length > 10 ? 24 : 10);

/** Numbers such as 12025550101, which are reserved for fiction; short ones just count. */
function likeNumber(length: number, n: number): string {
  if (length <= 6) return String(10 ** (length - 1) + (n % (9 * 10 ** (length - 1))));
  return (
    '12025'.padEnd(length - 6, '0').slice(0, length - 6) +
    String((550_100 + n) % 1e6).padStart(6, '0')
  );
}

/** Letters for letters, in their case, and digits for digits. Spaces and punctuation stay. */
function likeText(real: string, n: number): string {
  const characters = Array.from(real.normalize('NFKC').replace(/\p{M}/gu, ''));
  let left = n;
  let position = 0;
  /** One of the choices. Different numbers choose differently. */
  const choose = (choices: string): string => {
    const index = (position++ + left) % choices.length;
    left = Math.floor(left / choices.length);
    return choices.charAt(index);
  };
  // From the end, where ids count up.
  return characters
    .reverse()
    .map((character) => {
      if (/\p{N}/u.test(character)) return choose('0123456789');
      if (!/\p{L}/u.test(character)) return character;
      if (/\p{Lo}/u.test(character)) return choose(IDEOGRAPHS);
      const letter = choose(position % 2 === 0 ? CONSONANTS : VOWELS);
      return character === character.toLowerCase() ? letter : letter.toUpperCase();
    })
    .reverse()
    .join('');
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
