/**
 * Words that error messages use, and parts of names that say nothing. A person who is called one of
 * these is found only where the word is written as in the delivery, with its capital.
 */
const WORDS = `
a able abort aborted about above accept access account action active actual add added address after
again agent all allow allowed already also an and another any api app are argument arguments array
art as at attempt attempts auth authentication available back bad base basic be because been before
being below between bill body boolean both bound broken buffer busy but by byte bytes cache call
called caller calling can cancel cancelled canceled cannot case cause chain chance channel char
character characters check child class clean clear client close closed cluster code column command
commit company complete completed conflict connect connected connecting connection constraint contact
contacts content context corporation could count create created credentials current customer data
database date day dead deal deny denied desk did dial digit digits direction do does done down due
duplicate during each early either email empty end ended entry enough entity err error errors even
event events every exceed exceeded exception execute exist existing exists expect expected expired
external fail failed failing failure false fatal fetch field fields file final find first flag for
forbidden format found free from full function gateway get getaddrinfo given go gone good got grant group had
handle handler hang has have he header headers help here high hold home host how http id if ignored
image in inbound inc index info inner input insert instead int integer internal into invalid is
issue it item items its job json just keep key keys kind known last late later lead least left length
less level limit line link list live load local lock locked log login long lost low ltd mail main
make malformed manager many mark match matched matching max maximum may me member memory message
method middle min minimum miss missing mobile mode model module more most must my name named names
need network never new next no node none nor normal not note nothing now null number object of off
office old on once one only open operation option optional options or order organization origin
other our out outbound outer over own owner page parameter parent parse parsed part partner password
past path pay peer pending per permission person phone place please point pool port position post
private process profile progress property protocol provided public put query queue quota range rate
raw reach reached read ready realm reason received recipient record recording refused region register
reject rejected relation remote remove removed repeat replica reply request requested require
required reset resolve resource response rest result retried retries retry return returned right
role root route row rule run running sales same save saved scheme schema scope script search second secret
security see select send sender sent sequence serial server service session set she short should
sign signature size slow small so socket some source space start started state statement status still
stop stopped store stream string strong subject success such support syntax system table target task
team test text than that the their them then there these they thing this those thread threshold
through throttled throw time timed timeout times timestamp title to today token too topic total
transaction tried true try two type unable unauthorized undefined unexpected unique unknown until
unprocessable unsupported up update updated upstream url us use used user username users using valid
validation value values via view violates voice voicemail wait waiting warning was we web webhook
were what when where which while who why will with without word work worker workspace would write
wrong yes you young your zero
al am bin da das de del della der des di dos du el ibn la las le les los lo mac mr mrs ms san st ter
van von den het und und gmbh llc dr prof`;

/** In lower case. */
export const ORDINARY_WORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/));

/** Whether a word says nothing of a person. */
export const isOrdinaryWord = (word: string): boolean => ORDINARY_WORDS.has(word.toLowerCase());
