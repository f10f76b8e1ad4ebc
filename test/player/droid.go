package player

func init() { dialects["droid"] = droid }

const droidUsage = `"usage":{"input_tokens":9,"output_tokens":6,"cache_read_input_tokens":3,"cache_creation_input_tokens":0,"factory_credits":0}`

// droid counts the session's turns, and refuses without a word.
var droid = dialect{
	options: map[string]string{"exec": "!", "--output-format": "format", "-o": "format",
		"--fork": "fork"},
	always:  request{deaf: true},
	compose: either,
	session: ".factory/sessions/{directory}/{id}.jsonl",
	header:  `{"type":"session_start","id":"{id}"}`,
	opening: `{"type":"system","subtype":"init","cwd":{dir},"session_id":"{id}","tools":[],"model":"fake"}
{"type":"message","role":"user","id":"asked","text":{trimmed},"timestamp":1795366179854,"session_id":"{id}"}`,
	said: `{"type":"message","role":"assistant","id":"said","text":{text},"timestamp":1795366179854,"session_id":"{id}"}`,
	work: `{"type":"tool_call","toolName":"Execute","parameters":{"command":"{huge}"},"timestamp":1795366179854,"session_id":"{id}"}
{"type":"tool_result","isError":false,"value":"done","timestamp":1795366179854,"session_id":"{id}"}`,
	closing: `{"type":"completion","finalText":{answer},"numTurns":{1*turns},"durationMs":7,"timestamp":1795366179854,"session_id":"{id}",` + droidUsage + `}`,
	failed: `{"type":"error","source":"agent_loop","message":"500 something","timestamp":1795366179854,"session_id":"{id}"}
{"type":"error","source":"cli","message":{failure},"timestamp":1795366179854,"session_id":"{id}"}`,
	other: func(o output) Shown {
		switch {
		case o.format == "json" && o.Ending == Limit:
			return Shown{Stdout: o.fill(
				`{"type":"result","subtype":"failure","is_error":true,"duration_ms":0,"num_turns":0,"result":{failure},"session_id":"{id}",`+
					`"usage":{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"factory_credits":0}}`+"\n", nil)}
		case o.format == "json":
			return Shown{Stdout: o.fill(
				`{"type":"result","subtype":"success","is_error":false,"duration_ms":7,"num_turns":{1*turns},"result":{answer},"session_id":"{id}",`+
					droidUsage+"}\n", map[string]string{"answer": rawJSON(o.last())})}
		case o.Ending == Limit:
			return Shown{Stderr: "Error during droid execution: " + o.failure() + "\n"}
		}
		return lastLine(o)
	},
	foreign: func(o output) Shown { return Shown{Stdout: o.lines[0]} },
}
