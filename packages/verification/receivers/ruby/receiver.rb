# A receiver in Ruby: CALL_WEBHOOK_SECRET=… PORT=3000 ruby receiver.rb
# Events are kept in memory, so it is for one process. Replace the two hashes by a table for more.
require 'json'
require 'openssl'
require 'timeout'
require 'webrick'
require_relative 'effects'

TOLERANCE = 300 # seconds
REMEMBER_IDS = 600 # seconds: as long as a signature can verify
ANSWER_WITHIN = 25 # seconds: the service waits for 30
EVENTS = %w[call:started call:completed call:recording-available].freeze

class Receiver
  def initialize(secrets, &handle)
    @keys = secrets.map { |secret| secret.delete_prefix('whsec_').unpack1('m') }
    @handle = handle
    @ids = {} # webhook id => until when it is remembered
    @events = {} # key => :running or :done
    @lock = Mutex.new
  end

  # Takes the raw bytes. Returns the status of the response.
  def receive(headers, body)
    id = headers['x-service-webhook-id'].to_s
    return 401 unless authentic?(id, headers['x-service-timestamp'].to_s, headers['x-service-signature'].to_s, body)
    return 415 if headers['content-encoding']
    return 409 unless remember(id)

    key = key_of(JSON.parse(body.dup.force_encoding('UTF-8')))
    key ? run(key, body) : 200
  rescue JSON::ParserError, EncodingError
    422
  end

  private

  def authentic?(id, timestamp, signature, body)
    return false if id.empty? || !timestamp.match?(/\A[0-9]{1,12}\z/) || !signature.start_with?('v1,')
    return false if (Time.now.to_f - timestamp.to_i).abs > TOLERANCE

    @keys.any? do |key|
      computed = [OpenSSL::HMAC.digest('SHA256', key, "#{id}.#{timestamp}.".b + body.b)].pack('m0')
      OpenSSL.secure_compare(computed, signature[3..])
    end
  end

  def remember(id)
    now = Time.now.to_f
    @lock.synchronize do
      @ids.delete_if { |_, till| till < now }
      return false if @ids.key?(id)

      @ids[id] = now + REMEMBER_IDS
    end
    true
  end

  def run(key, body)
    state = @lock.synchronize { @events[key].tap { |known| @events[key] = :running unless known } }
    return state == :done ? 200 : 503 if state

    thread = Thread.new { run_claimed(key, JSON.parse(body)) }
    # After that it goes on, and the retry finds it done.
    return 503 unless thread.join(ANSWER_WITHIN)

    thread.value ? 200 : 500
  end

  def run_claimed(key, event)
    @handle.call(event)
    @lock.synchronize { @events[key] = :done }
    true
  rescue StandardError
    @lock.synchronize { @events.delete(key) }
    false
  end

  # What identifies duplicates; nil for what nobody handles. The webhook id is new in each attempt.
  def key_of(event)
    return nil unless event.is_a?(Hash) && EVENTS.include?(event['eventName'])
    return event['eventId'] if event['eventName'] == 'call:recording-available' && event['eventId'].is_a?(String)

    "#{event['callId']}:#{event['eventName']}" if event['callId'].is_a?(String)
  end
end

receiver = Receiver.new(ENV.fetch('CALL_WEBHOOK_SECRET').split) { |event| Effects.handle(event) }
server = WEBrick::HTTPServer.new(
  BindAddress: '127.0.0.1', Port: ENV.fetch('PORT', '3000').to_i, AccessLog: [], Logger: WEBrick::Log.new($stderr, 0)
)
server.mount_proc('/') do |request, response|
  response.status =
    if request.path == '/effects' then 200
    elsif request.path.chomp('/') != '/hook' then 503 # never 404: it would pause the rule
    elsif request.request_method != 'POST' then 405
    else receiver.receive(request, request.body.to_s)
    end
  response.body = JSON.generate(Effects.report) if request.path == '/effects'
end
trap('TERM') { server.shutdown }
server.start
