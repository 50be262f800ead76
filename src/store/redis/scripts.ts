/**
 * The scripts of an engine in Redis. Each is atomic, and checks before its first write. A client may send a script again by
 * itself: a name in its values, which the session keeps, says that it was carried out.
 */

/**
 * KEYS: session. ARGV: the name of the making, and field and value of each field. Answers 0 where a session is there already.
 */
export const makeScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('HGET', KEYS[1], 'step') == ARGV[1] and 1 or 0 end
redis.call('HSET', KEYS[1], 'step', unpack(ARGV))
return 1`;

/**
 * Steps of several sessions. KEYS: of each its hash and its logs; where it gets another id these again under that, and the set
 * of what was put aside. ARGV: of each the revision before and after, the name of the step, the new id or "", whether it is
 * emptied, how many fields and lines, then field and value of each, and place of the log, number, place and text of each line.
 * Answers for each: `made`, `moved` where lists may have to follow, or `other` for another revision. Whatever can be refused
 * is refused before the first write. A server whose memory is full lets a script go on whose first write takes away: there
 * sessions are trashed, erased and let go of as well.
 */
export const stepScript = `
local steps, answers, key, at = {}, {}, 1, 1
while key <= #KEYS do
  local step = { key = key, at = at, isMoved = ARGV[at + 3] ~= '', isEmptied = ARGV[at + 4] == '1', ids = {} }
  step.first = at + 7 + 2 * tonumber(ARGV[at + 5])
  step.next = step.first + 4 * tonumber(ARGV[at + 6])
  step.old = redis.call('HMGET', KEYS[key], 'revision', 'step', 'created_ms', 'owner')
  local name = step.old[2] or step.isMoved and redis.call('HGET', KEYS[key + 8], 'step')
  if name == ARGV[at + 2] then answers[#answers + 1] = 'moved'
  elseif step.old[1] ~= ARGV[at] or step.isMoved and redis.call('EXISTS', KEYS[key + 8]) == 1 then answers[#answers + 1] = 'other'
  else
    local newest = {}
    for i = step.first, step.next - 1, 4 do
      local log, seq = key + tonumber(ARGV[i]), tonumber(ARGV[i + 1])
      if not newest[log] then
        local last = not step.isEmptied and redis.call('XREVRANGE', KEYS[log], '+', '-', 'COUNT', 1)[1]
        local number, row = string.match(last and last[1] or '0-0', '(%d+)-(%d+)')
        newest[log] = { tonumber(number), tonumber(row) }
      end
      if seq < newest[log][1] then return redis.error_reply('ERR a line has a lower number than the newest of its log') end
      newest[log] = { seq, seq == newest[log][1] and newest[log][2] + 1 or 0 }
      step.ids[i] = string.format('%.0f-%.0f', newest[log][1], newest[log][2])
    end
    answers[#answers + 1] = 'made'
    step.place = #answers
    steps[#steps + 1] = step
  end
  key, at = key + (step.isMoved and 17 or 8), step.next
end
for _, step in ipairs(steps) do
  key, at = step.key, step.at
  if step.first == step.next then redis.call('HDEL', KEYS[key], 'step') end
  if step.isEmptied then redis.call('UNLINK', unpack(KEYS, key + 1, key + 7)) end
  for i = step.first, step.next - 1, 4 do
    redis.call('XADD', KEYS[key + tonumber(ARGV[i])], step.ids[i], 'line', ARGV[i + 3], 'pos', ARGV[i + 2])
  end
  local values = { 'revision', ARGV[at + 1], 'step', ARGV[at + 2] }
  if step.isEmptied then values[5], values[6] = 'origin', ARGV[at + 1] end
  for i = at + 7, step.first - 1 do values[#values + 1] = ARGV[i] end
  redis.call('HSET', KEYS[key], unpack(values))
  local new = redis.call('HMGET', KEYS[key], 'created_ms', 'owner')
  if new[1] ~= step.old[3] or new[2] ~= step.old[4] or step.isMoved then answers[step.place] = 'moved' end
  if step.isMoved then
    for i = key, key + 7 do
      if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('RENAME', KEYS[i], KEYS[i + 8]) end
    end
    redis.call('SADD', KEYS[key + 16], ARGV[at + 3])
  end
end
return answers`;

/** KEYS: session, logs, the set of what was put aside. ARGV: revision, id. Removes a session; answers 0 where it has another. */
export const removeScript = `
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then return 0 end
redis.call('UNLINK', unpack(KEYS, 1, 8))
redis.call('SREM', KEYS[9], ARGV[2])
return 1`;

/** KEYS: sessions. ARGV: the time, and the taking of each. Says that holders live, at a server whose memory is full, too. */
export const beatScript = `
for i = 1, #KEYS do
  if redis.call('HGET', KEYS[i], 'taking') == ARGV[i + 1] then
    redis.call('HDEL', KEYS[i], 'beat')
    redis.call('HSET', KEYS[i], 'beat', ARGV[1])
  end
end`;

/**
 * KEYS: session, log. ARGV: a command that reads the log, and what stands behind its key. Answers the session's origin, the
 * newest line, and what the command does; nothing where the session is gone, or lists leave it out.
 */
export const readScript = `
local s = redis.call('HMGET', KEYS[1], 'origin', 'hidden')
if not s[1] or s[2] == '1' then return false end
return { s[1], redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1), redis.call(ARGV[1], KEYS[2], unpack(ARGV, 2)) }`;
