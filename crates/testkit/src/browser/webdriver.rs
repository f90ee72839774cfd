//! The protocol between a test and chromedriver: HTTP/1.1 with JSON, one connection for each request, only the parts
//! that the driver uses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// The longest wait for an answer, so that a hang is found. A page opens within a second, on a busy machine within a
/// few.
const PATIENCE: Duration = Duration::from_secs(300);

/// Posts to the driver at this port, and returns the `value` of its answer. A refusal is an error.
pub fn ask(port: u16, path: &str, body: &Value) -> Result<Value, String> {
    let failed = |error| format!("chromedriver does not answer: {error}");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    let body = body.to_string();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let text = answer(&mut BufReader::new(stream)).map_err(failed)?;
    let answer: Value = serde_json::from_str(&text).map_err(|error| format!("no JSON: {error}: {text}"))?;
    let value = &answer["value"];
    match value["error"].as_str() {
        Some(error) => Err(format!("{error}: {}", value["message"].as_str().unwrap_or_default())),
        None => Ok(value.clone()),
    }
}

/// Reads the body of an answer, with the length given in its header.
fn answer(from: &mut impl BufRead) -> std::io::Result<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = String::new();
    from.take(length).read_to_string(&mut body)?;
    Ok(body)
}

/// Decodes base64 (RFC 4648, section 4); `None` if the text is not base64.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    let six = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let letters: Vec<u8> = text.trim_end_matches('=').bytes().map(six).collect::<Option<_>>()?;
    for four in letters.chunks(4) {
        let bits = four.iter().enumerate().fold(0, |bits, (place, six)| bits | u32::from(*six) << (26 - 6 * place));
        // Four letters are three bytes; three letters are two bytes, and two letters are one byte.
        bytes.extend_from_slice(&bits.to_be_bytes()[..four.len() * 3 / 4]);
    }
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_any_length_is_decoded() {
        for (text, bytes) in [("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmE=", "fooba")] {
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(from_base64("+/8="), Some(vec![0xFB, 0xFF]));
        assert_eq!((from_base64(""), from_base64("a-b_")), (None, None));
    }

    #[test]
    fn responses_end_at_their_content_length() {
        let text = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}and more";
        assert_eq!(answer(&mut text.as_bytes()).expect("an answer"), "{}");
    }
}
