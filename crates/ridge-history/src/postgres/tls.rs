//! Encrypted connections: what an address asks for, and rustls under the client.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a file of certificates has at most: those of a whole operating system have a fifth of it.
const MOST_OF_ROOTS: u64 = 1 << 20;

/// How the server has to show who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// It need not: the connection is encrypted where the mode says so, to whoever answers.
    None,
    /// By a certificate for its name, of an authority that the operating system trusts.
    OfSystem,
    /// The same, of an authority in a file.
    OfFile(String),
}

/// Makes encrypted connections of one kind.
#[derive(Clone)]
pub(super) struct Tls {
    config: Arc<ClientConfig>,
}

impl Tls {
    /// Reads the certificates that prove who a server is.
    ///
    /// # Errors
    /// In words, when there are none.
    pub(super) fn new(proof: &Proof) -> Result<Self, String> {
        let provider = Arc::new(ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match proof {
            Proof::None => Arc::new(Anybody(Arc::clone(&provider))),
            Proof::OfSystem => {
                let found = rustls_native_certs::load_native_certs();
                Arc::new(Known::new(found.certs, &provider).map_err(|error| {
                    format!("this machine has no certificate authorities that it trusts ({error})")
                })?)
            }
            Proof::OfFile(file) => {
                let roots = roots(Path::new(file));
                let known = roots.and_then(|roots| Known::new(roots, &provider));
                Arc::new(known.map_err(|error| format!("cannot use sslrootcert {file}: {error}"))?)
            }
        };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        // Servers that are spoken to in TLS from the first byte ask for it.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self {
            config: Arc::new(config),
        })
    }
}

fn roots(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let words = |error: io::Error| error.to_string();
    // A pipe would keep one waiting.
    if !std::fs::metadata(file).map_err(words)?.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut text = Vec::new();
    File::open(file)
        .map_err(words)?
        .take(MOST_OF_ROOTS + 1)
        .read_to_end(&mut text)
        .map_err(words)?;
    if text.len() as u64 > MOST_OF_ROOTS {
        return Err("it has more than 1 MiB".to_owned());
    }
    CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("it holds no certificates as PEM ({error})"))
}

/// Takes every certificate. Its signature proves nothing where nobody knows whose certificate it is, so that those that rustls
/// would not read, such as those of version 1, are taken too.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Takes certificates of known authorities.
#[derive(Debug)]
struct Known {
    roots: Vec<CertificateDer<'static>>,
    verifier: Arc<WebPkiServerVerifier>,
}

impl Known {
    fn new(
        roots: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, String> {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots.iter().cloned());
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
                .build()
                .map_err(|_| "there is no certificate in it".to_owned())?;
        Ok(Self { roots, verifier })
    }
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        // A server with one certificate that it signed itself: whoever names that one knows the server by it. As it is its own
        // authority, the rules for certificates of authorities would refuse it.
        if self.roots.iter().any(|root| root == certificate) {
            verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.verifier
            .verify_server_cert(certificate, between, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// What is wrong with a certificate, where the library has no words for people.
pub(super) fn words(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let error: &io::Error = error.downcast_ref()?;
    let error: &rustls::Error = error.get_ref()?.downcast_ref()?;
    let rustls::Error::InvalidCertificate(reason) = error else {
        return None;
    };
    match reason {
        CertificateError::UnknownIssuer => {
            Some("its certificate is of no authority that is trusted".to_owned())
        }
        CertificateError::Other(reason) if reason.to_string().contains("CaUsedAsEndEntity") => {
            Some("it signed its certificate itself, and that is not among the trusted".to_owned())
        }
        CertificateError::Other(reason) => Some(format!("its certificate is not taken: {reason}")),
        _ => None,
    }
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, io::Error> {
        Ok(Handshake {
            config: Arc::clone(&self.config),
            host: host.to_owned(),
        })
    }
}

pub(super) struct Handshake {
    config: Arc<ClientConfig>,
    host: String,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            let connector = tokio_rustls::TlsConnector::from(self.config);
            connector.connect(name, stream).await.map(Encrypted)
        })
    }
}

/// A stream as the client takes it.
pub(super) struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
