/** A text as its library writes it, and the same text as it is logged. */
export type Row = readonly [from: string, text: string, logged: string];

/** The same: nothing in it is personal. */
export const same = (from: string, text: string): Row => [from, text, text];

export const SERVICE_ERRORS: readonly Row[] = [
  same('Stripe', "No such customer: 'cus_9s6XKzkNRiz8i3'"),
  [
    'Stripe',
    'Invalid API Key provided: sk_test_************************p7dc',
    'Invalid API Key provided: [redacted]',
  ],
  same('AWS', 'The security token included in the request is expired'),
  same(
    'AWS',
    'Signature expired: 20260401T100000Z is now earlier than 20260401T101500Z (20260401T102000Z - 5 min.)',
  ),
  same(
    'AWS',
    'User: arn:aws:sts::314382625344:assumed-role/calls-prod/i-0d1204078bf4e29eb is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:eu-central-1:314382625344:table/calls because no identity-based policy allows the dynamodb:PutItem action',
  ),
  [
    'AWS',
    'Access Denied for https://s3.eu-central-1.amazonaws.com/recordings/c.mp3?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20260401&X-Amz-Expires=900&X-Amz-Signature=7f3c9a',
    'Access Denied for https://s3.eu-central-1.amazonaws.com/recordings/c.mp3?X-Amz-Credential=[redacted]&X-Amz-Expires=900&X-Amz-Signature=[redacted]',
  ],
  [
    'Twilio',
    "The 'To' number 18240475607 is not a valid phone number.",
    "The 'To' number [redacted] is not a valid phone number.",
  ],
  [
    'Twilio',
    'The From phone number +6583686789 is not a valid, SMS-capable inbound phone number or short code for your account.',
    'The From phone number [redacted] is not a valid, SMS-capable inbound phone number or short code for your account.',
  ],
  same(
    'HubSpot',
    'Contact already exists. Existing ID: 37765128953 {"correlationId":"2dea5219-07f2-40ce-82ec-9c2e302317a4"}',
  ),
  [
    'SMTP',
    "Can't send mail - all recipients were rejected: 550 5.1.1 <ada.lovelace@example.com>: Recipient address rejected: User unknown in virtual mailbox table",
    "Can't send mail - all recipients were rejected: 550 5.1.1 <[redacted]>: Recipient address rejected: User unknown in virtual mailbox table",
  ],
  [
    'an API',
    '401 Unauthorized: {"error":"invalid_token","token":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}',
    '401 Unauthorized: {"error":"invalid_token","token":"[redacted]"}',
  ],
  [
    'an API',
    'Bearer token rejected: Authorization: Bearer s3cr3t-abc, request id req_8pFqXyZ1',
    'Bearer token rejected: Authorization: [redacted], request id req_8pFqXyZ1',
  ],
];
