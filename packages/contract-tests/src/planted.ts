// A delivery of a person whose data must not leave a receiver, a tool or a page, unless somebody asks for it.
// Each exit is tested with it: whatever is told is compared with `PLANTED`.

/** A person, as the body of a delivery names her. */
export const PERSON = {
  toPhoneNumber: '+49 171 5550123',
  recipientEmail: 'ada@lovelace.example',
  recipientName: 'Ada Lovelace',
};

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/** In all headers that the receiver does not need. */
export const HEADERS = {
  'user-agent': 'Ada Lovelace',
  'x-forwarded-for': PERSON.recipientEmail,
  cookie: 'phone=+491715550123',
};

/** What the client of a store or of a secrets manager throws. It does not know the body. */
export const clientError = (who = 'the client') =>
  new TypeError('fetch failed', {
    cause: Object.assign(
      new Error(
        `connect ECONNREFUSED 10.0.0.5:5432 for ${who}, +49 171 5550123, ada@lovelace.example at postgres://app:hunter2@db/crm with ${SECRET}`,
      ),
      { code: 'ECONNREFUSED' },
    ),
  });

/** What a handler or a sink throws. */
export const handlerError = () => clientError(PERSON.recipientName);

/** None of it may be told. */
export const PLANTED =
  /5550123|ada@|lovelace\.example|hunter2|MfKQ9r8GKYqr|C2FVsBQIhrsc|Ada|Lovelace/;
